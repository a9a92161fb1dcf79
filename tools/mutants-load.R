# R_PROFILE_USER of processes that mutants.R starts: what it gives is put in the place of the package's code, and the
# numbers of the marks that were met are written when the process ends.
local({
  met <- logical(1e5)
  assign(".mark", compiler::cmpfun(function(i) if (!met[i]) met[i] <<- TRUE), globalenv())
  own <- Sys.getpid()
  reg.finalizer(environment(), function(e) {
    if (any(met)) saveRDS(which(met), tempfile(basename(Sys.getenv("DPTS_MARKS")), dirname(Sys.getenv("DPTS_MARKS"))))
  }, onexit = TRUE)
  setHook(packageEvent("dpts", "onLoad"), function(...) {
    namespace <- asNamespace("dpts")
    info <- namespace$.__NAMESPACE__.
    methods <- info$S3methods
    on.exit(assign("S3methods", methods, info)) # registerS3method() adds what it was given
    for (new in readRDS(Sys.getenv("DPTS_CODE"))) {
      value <- eval(new$expr, namespace)
      unlockBinding(new$name, namespace)
      assign(new$name, value, namespace)
      for (i in which(methods[, 3] == new$name)) {
        try(registerS3method(methods[i, 1], methods[i, 2], value, envir = namespace), silent = TRUE)
      }
    }
  })
})
