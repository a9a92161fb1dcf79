# The article: dpts.html in the working directory, every number and picture computed anew. Runs for each table and picture
# are its argument (100 unless given): Rscript make.R 1000
# Its parts are those that the Journal of Statistical Software asks for; the page is HTML, as jss.cls does not come with dpts.
runs <- as.integer(c(commandArgs(TRUE), 100)[1])
here <- grep("^--file=", commandArgs(), value = TRUE)
here <- if (length(here)) dirname(sub("^--file=", "", here[1])) else system.file("paper", package = "dpts")
rmarkdown::render(file.path(here, "dpts.Rmd"), output_dir = getwd(), intermediates_dir = tempfile(), params = list(runs = runs))
