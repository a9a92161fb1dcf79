store_toy <- function() {
  store <- store_memory()
  store$label <- "toy"
  store
}
