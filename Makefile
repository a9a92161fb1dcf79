# Everything a contributor runs. `make help` lists it; CI runs `make test`.
# Without LaTeX the PDF manual cannot be made. Where there is no network: _R_CHECK_CRAN_INCOMING_REMOTE_=false make check.
NO_MANUAL = $(shell command -v pdflatex > /dev/null || echo --no-manual)
.DEFAULT_GOAL = help
.PHONY: help setup setup-tests install quick demo test test-extended messages document build check bench torture fuzz storm referee mutants sanitize foreign format format-check readme vignettes articles slides paper site clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install the R packages that dpts needs
	@Rscript tools/setup.R

setup-tests: setup ## Install those that its tests need, too
	@Rscript tools/setup.R --tests

install: setup ## Install dpts from this folder, with its articles
	@Rscript tools/setup.R knitr rmarkdown && Rscript tools/install.R --vignettes

quick: setup ## Install dpts from this folder, without its articles
	@Rscript tools/install.R

# Byte code, which R makes of what is called often anyway, takes a quarter of the time.
demo: setup ## Install dpts, and play the five-arm problem: demo/regret.png, demo/regret.csv
	@Rscript tools/install.R --no-byte-compile --no-test-load && Rscript tools/demo.R

# Byte code is made by tools/test.R, of what gains by it; and that dpts loads is the first line of the tests.
test: export R_ENABLE_JIT = 0
# Most of what is in memory are packages, which each full collection reads again: room enough that few are made.
test: export R_NSIZE = 6M
test: export R_VSIZE = 256M
# What tests write need not survive: in memory, where that has two gigabytes left, nothing waits for a disk.
IN_MEMORY = $(shell grep ' /dev/shm ' /proc/mounts 2> /dev/null | grep -qv noexec && df -Pk /dev/shm | awk '$$4 > 2e6 && /shm/ { print $$6 }')
test: export TMPDIR := $(or $(IN_MEMORY),$(TMPDIR),/tmp)

test: $(if $(FILE),,format-check setup-tests) ## Run the tests; FILE=simulate runs one file, on what is installed
	@$(if $(FILE),,Rscript tools/install.R --no-byte-compile --no-test-load &&) FILE="$(FILE)" Rscript tools/test.R

test-extended: export DPTS_EXTENDED_TESTS = true
test-extended: test ## Run the tests, the slow ones too

messages: ## Write what errors and messages say in the tests: tests/testthat/messages.txt; FILE=simulate adds those of one file
	@rm -f messages.new && DPTS_NEW_MESSAGES=$(CURDIR)/messages.new $(MAKE) --no-print-directory test FILE="$(FILE)"
	@LC_ALL=C sort -u messages.new $(if $(FILE),tests/testthat/messages.txt) -o tests/testthat/messages.txt && rm messages.new

document: setup ## Write man/ and NAMESPACE from the comments in R/
	@Rscript tools/setup.R roxygen2 && Rscript tools/document.R

build: setup ## Write dpts_VERSION.tar.gz, articles included, for install.packages(repos = NULL, type = "source")
	@Rscript tools/setup.R knitr rmarkdown survival
	@rm -f dpts_*.tar.gz && R CMD build .

check: document build setup-tests ## R CMD check --as-cran on that file, built as a repository builds it
	@_R_CHECK_FORCE_SUGGESTS_=false R CMD check --as-cran $(NO_MANUAL) dpts_*.tar.gz

bench: quick ## Measure the speed claims: bench/RESULTS.md, bench/policies.md, bench/arms.md
	@Rscript bench/run.R && Rscript bench/policies.R > bench/policies.md && Rscript bench/arms.R > bench/arms.md

storm: quick ## Lives of agents with deaths, repeats and clock jumps, against a model; SEED, LIVES, STEPS, PLANT
	@Rscript tools/storm.R

torture: quick ## Kill, fill and confuse live agents: nothing may be lost or released twice
	@Rscript tools/setup.R callr curl && Rscript tools/torture.R

fuzz: ## HTTP of a service under ASan and UBSan, against a model: damaged, cut, slow, without end; MINUTES=1, SEED=1
	@MINUTES="$(MINUTES)" SEED="$(SEED)" python3 tools/fuzz.py

referee: quick ## Play outside models of the help pages against the package; MINUTES=30, SEED=1, MODEL=randomised
	@MINUTES="$(MINUTES)" SEED="$(SEED)" MODEL="$(MODEL)" GAMES="$(GAMES)" Rscript tools/referee.R

mutants: quick setup-tests ## Plant single mistakes in R/ and say which no test sees; N=40, SEED=1, AREA=core or service, COVER=FILE
	@N="$(N)" SEED="$(SEED)" AREA="$(AREA)" CAP="$(CAP)" COVER="$(COVER)" Rscript tools/mutants.R

sanitize: setup-tests ## Run the tests under ASan and UBSan, and the kernels under valgrind; FILE=simulate: one file of tests
	@FILE="$(FILE)" sh tools/sanitize.sh

foreign: quick setup-tests ## Other compilers, the newest R, arm64, s390x and Windows by emulation: what builds, and gives the same bits
	@sh tools/foreign.sh

format: ## Format the C code
	@clang-format -i src/*.c src/*.h

format-check: ## Is the C code formatted?
	@if command -v clang-format > /dev/null; \
	 then clang-format --dry-run -Werror src/*.c src/*.h || { echo "The C code is not formatted: run make format."; exit 1; }; \
	 else echo "clang-format is not there: the format of the C code is not checked."; fi

readme: quick ## Draw the pictures of the README and compute its table
	@Rscript tools/readme.R

.PHONY: cheatsheet
cheatsheet: ## Draw the page of help, man/figures/cheatsheet.svg
	@Rscript tools/cheatsheet.R

vignettes: quick ## Build the vignettes, with the time each takes: doc/; FILE=audit builds one
	@Rscript tools/setup.R knitr rmarkdown survival && FILE="$(FILE)" Rscript tools/vignettes.R

articles: quick ## Compute anew what the vignettes store: vignettes/stored/; FILE=audit for one
	@Rscript tools/setup.R knitr rmarkdown survival && ARTICLES=store FILE="$(FILE)" Rscript tools/vignettes.R

paper: quick ## Compute the article for a journal: paper/dpts.html, with LaTeX paper/dpts.pdf, too
	@Rscript tools/setup.R knitr rmarkdown withr && mkdir -p paper && cd paper && Rscript ../inst/paper/make.R

slides: quick ## Write lesson.html, the slides of the class of ninety minutes
	@Rscript tools/setup.R knitr rmarkdown && Rscript tools/slides.R

site: document ## Build the website into docs/, without internet
	@Rscript tools/setup.R pkgdown knitr rmarkdown survival && Rscript tools/site.R

clean: ## Remove what the commands above made
	@rm -rf src/*.o src/*.so demo doc docs paper lesson.html dpts.Rcheck dpts_*.tar.gz
