#!/bin/sh
# Other compilers and other machines, shown on one Debian machine, as root. Compilers: strict C11 and C17, clang, link-time
# optimisation, mingw-w64, musl, and cross compilers for arm64 and s390x. What they make of the kernels plays 66 games (under
# wine, and under emulation), which are to be those of the installed package: tools/known.c. Newest: Debian's unstable, with the newest R, ggplot2 and testthat. Machines:
# Debian for arm64 and for s390x (big-endian) by debootstrap and user-mode emulation, where known answers, exact noise,
# saved sessions, accountants and the kernels' tests run. The C code is compiled by a cross compiler, since a compiler
# under emulation takes an hour. What could not be done is said at the end, and is no success.
#   MACHINES="newest arm64 s390x"   which machines; "" for compilers alone
#   COMPILERS=no             machines alone
#   TOPICS="known-answers"   these tests alone
#   FOREIGN=/var/tmp/dpts-foreign   where their file systems are kept for the next time
set -u
FOREIGN=${FOREIGN:-/var/tmp/dpts-foreign}
MACHINES=${MACHINES-newest arm64 s390x}
INCLUDE=$(Rscript -e 'cat(R.home("include"))')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
report=$work/report
: > "$report"
say() { printf '%s\n' "$*" | tee -a "$report"; }

need() { # need COMMAND PACKAGE
  command -v "$1" > /dev/null && return 0
  apt-get install -y -qq --no-install-recommends "$2" > /dev/null 2>&1
  command -v "$1" > /dev/null
}

# ---- compilers -------------------------------------------------------------------------------

compile() { # compile NAME COMMAND...: every file, no warning
  name=$1
  shift
  for file in src/*.c; do
    "$@" -I"$INCLUDE" -Iinst/include -D_DEFAULT_SOURCE -include src/math_strict.h -c "$file" -o "$work/$(basename "$file" .c).o" 2>> "$work/$name.log" || echo "$file: failed" >> "$work/$name.log"
  done
  if [ -s "$work/$name.log" ]; then
    say "FAILED  $name"
    head -20 "$work/$name.log"
  else
    say "ok      $name"
  fi
}

libraries=
games() { # games NAME "RUNNER" COMMAND...: what was compiled last, without the shims, plays as the package does
  name=$1 runner=$2
  shift 2
  kernels=$(ls "$work"/*.o | grep -v '/r_\|/test_')
  if ! "$@" -Iinst/include -include src/math_strict.h tools/known.c $kernels -lm $libraries -o "$work/known" 2> "$work/$name.log"; then
    say "FAILED  $name: does not link"
    head -5 "$work/$name.log"
  elif $runner "$work/known" < "$work/games" > "$work/answers" && Rscript tools/known.R check "$work/answers" > "$work/$name.log" 2>&1; then
    say "ok      $name: $(tail -1 "$work/$name.log")"
  else
    say "FAILED  $name: $(tail -1 "$work/$name.log")"
  fi
}

cross_compiler() { # cross_compiler DEBIAN-NAME QEMU-NAME: with the headers of its C library
  [ -e "/usr/$2-linux-gnu/include/stdio.h" ] || apt-get install -y -qq --no-install-recommends "libc6-dev-$1-cross" > /dev/null 2>&1
  need "$2-linux-gnu-gcc" "gcc-$2-linux-gnu"
}

cross() { # cross DEBIAN-NAME QEMU-NAME: a machine by its cross compiler, and an emulator of its processor
  if cross_compiler "$1" "$2" && need "qemu-$2-static" qemu-user-static; then
    compile "$1-compiler" "$2-linux-gnu-gcc" -O2
    games "$1-games" "qemu-$2-static" "$2-linux-gnu-gcc" -O2 -static
  else say "NOT DONE $1-compiler: not to be had"; fi
}

if [ "${COMPILERS-yes}" = yes ]; then
Rscript tools/known.R games > "$work/games" || exit 1
warn="-Wall -Wextra -pedantic -Wstrict-prototypes"
compile gcc-c11 gcc -std=c11 -O1 $warn
compile gcc-c17 gcc -std=c17 -O1 $warn
if need clang clang; then
  compile clang clang -std=c11 -O1 $warn
  games clang-games "" clang
else say "NOT DONE clang: not to be had"; fi
if need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64; then
  compile mingw-w64 x86_64-w64-mingw32-gcc -O1 -Wall
  wine=/usr/lib/wine/wine64 # Debian's wine64 has it in no path
  [ -x $wine ] || apt-get install -y -qq --no-install-recommends wine64 > /dev/null 2>&1
  if [ -x $wine ]; then
    libraries="-lpthread -lws2_32 -lbcrypt"
    games mingw-w64-games "env HOME=$work WINEDEBUG=-all $wine" x86_64-w64-mingw32-gcc -static
    libraries=
  else say "NOT DONE mingw-w64-games: wine is not to be had"; fi
else say "NOT DONE mingw-w64: not to be had"; fi
if need musl-gcc musl-tools; then
  compile musl musl-gcc -O1 -Wall
  games musl-games "" musl-gcc -static
else say "NOT DONE musl: not to be had"; fi
cross arm64 aarch64
cross s390x s390x
compile lto gcc -O2 -flto=auto -fPIC -fopenmp -Wall
if gcc -flto=auto -O2 -shared -fopenmp -Wodr -Wlto-type-mismatch "$work"/*.o -o "$work/lto.so" 2> "$work/link.log" && [ ! -s "$work/link.log" ]; then
  say "ok      lto-link"
else
  say "FAILED  lto-link"
  head -20 "$work/link.log"
fi

fi

# ---- machines --------------------------------------------------------------------------------

emulate() { # emulate QEMU-NAME: binaries of that machine run
  binfmt=/proc/sys/fs/binfmt_misc
  [ -e $binfmt/register ] || mount -t binfmt_misc none $binfmt 2> /dev/null
  [ -e "$binfmt/qemu-$1" ] || cat "/usr/lib/binfmt.d/qemu-$1.conf" > $binfmt/register 2> /dev/null
  [ -e "$binfmt/qemu-$1" ]
}

root_of() { # root_of NAME SUITE PACKAGES [OPTION]: its file system, made once
  root=$FOREIGN/$1
  if [ ! -e "$root/.whole" ]; then
    rm -rf "$root"
    mkdir -p "$FOREIGN"
    if ! debootstrap ${4-} --variant=minbase \
         --include=r-base-core,make,gcc,libc6-dev,libblas-dev,liblapack-dev,gfortran,r-cran-codetools,r-cran-testthat,r-cran-withr,r-cran-ggplot2,r-cran-tibble,r-cran-generics$3 \
         "$2" "$root" http://deb.debian.org/debian > "$work/$1.log" 2>&1; then
      say "NOT DONE $1: its file system could not be made"
      tail -5 "$work/$1.log"
      return 1
    fi
    touch "$root/.whole"
  fi
  rm -rf "$root/dpts"
  mkdir "$root/dpts"
  cp -r DESCRIPTION NAMESPACE LICENSE NEWS.md R src inst data tests man "$root/dpts"
  rm -f "$root"/dpts/src/*.o "$root"/dpts/src/*.so
}

try() { # try NAME "TESTS" [OPTION OF INSTALL]: install and test there
  if ! chroot "$root" sh -c "cd / && MAKEFLAGS=-j2 R CMD INSTALL --no-byte-compile --no-test-load ${3-} dpts" >> "$work/$1.log" 2>&1; then
    say "FAILED  $1: does not install"
    grep -E "error|warning" "$work/$1.log" | head -5
    tail -5 "$work/$1.log"
    return
  fi
  for topic in ${TOPICS:-$2}; do
    chroot "$root" env NOT_CRAN=true OMP_NUM_THREADS=1 LANG=C.UTF-8 timeout 900 Rscript -e '
      library(dpts); setwd("/dpts/tests/testthat")
      out <- as.data.frame(testthat::test_file(sprintf("test-%s.R", commandArgs(TRUE)), package = "dpts",
                                               load_package = "installed", reporter = "summary", stop_on_failure = FALSE))
      failed <- sum(out$failed) + sum(out$error)
      cat(sprintf("%d passed, %d failed\n", sum(out$nb) - failed, failed)); quit(status = failed > 0)' "$topic" \
      > "$work/$1-$topic.log" 2>&1
    status=$?
    if [ $status = 0 ]; then say "ok      $1 $topic: $(tail -1 "$work/$1-$topic.log")"
    elif [ $status = 124 ]; then say "NOT DONE $1 $topic: not finished after 15 minutes"
    else
      say "FAILED  $1 $topic"
      tail -30 "$work/$1-$topic.log"
    fi
  done
}

newest() { # newest "TESTS"
  if [ "$(id -u)" != 0 ] || ! need debootstrap debootstrap; then
    say "NOT DONE newest: needs root and debootstrap"
    return
  fi
  root_of newest sid ,r-cran-dplyr,r-cran-dbi,r-cran-rsqlite || return
  chroot "$root" sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get upgrade -y -qq' > "$work/newest.log" 2>&1
  try newest "$1"
}

machine() { # machine DEBIAN-NAME QEMU-NAME "TESTS"
  if [ "$(id -u)" != 0 ] || ! need debootstrap debootstrap || ! need "qemu-$2-static" qemu-user-static || ! emulate "$2" ||
     ! cross_compiler "$1" "$2"; then
    say "NOT DONE $1: needs root, debootstrap, qemu-user-static, binfmt_misc and gcc-$2-linux-gnu"
    return
  fi
  root_of "$1" bookworm ,r-cran-dbi,r-cran-rsqlite "--arch=$1" || return
  for file in src/*.c; do # a.c and b.c side by side
    echo "$file"
  done | xargs -P 2 -I{} sh -c '"$0" -O2 -fPIC -fopenmp -fvisibility=hidden -D_DEFAULT_SOURCE -include src/math_strict.h -Iinst/include -I"$1"/usr/share/R/include -c {} -o "$1/dpts/$(dirname {})/$(basename {} .c).o"' \
    "$2-linux-gnu-gcc" "$root" 2> "$work/$1.log"
  touch "$root"/dpts/src/*.o
  try "$1" "$3" --no-docs
}
case " $MACHINES " in *" newest "*) newest "known-answers plot label result print check policy-custom agent" ;; esac
case " $MACHINES " in *" arm64 "*)
  machine arm64 aarch64 "known-answers exact session gdp normal-laplace kl sample mechanism streams counter rdp skip-bounds" ;;
esac
case " $MACHINES " in *" s390x "*) machine s390x s390x "known-answers exact session streams" ;; esac

echo
cat "$report"
! grep -q '^FAILED\|^NOT DONE' "$report"
