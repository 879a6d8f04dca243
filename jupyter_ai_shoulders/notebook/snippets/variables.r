# Describes the variables of an R kernel. Sent by notebook.kernels.variables, evaluated in a separate
# environment below base, so that its functions find nothing of the user's workspace.
# Nothing here dispatches on the user's classes: no print, format, str, length or is.na of an
# object with a class, only primitives on what lies beneath. `level` and `wanted` are set before it.

most_variables <- 300L
most_names <- 1000L
most_columns <- if (length(wanted)) 400L else 60L
seconds <- 0.4
counted <- 2e6
scanned <- 2e7
sample_size <- 5000L
count <- switch(level, samples = 3L, full = 20L, 0L)
width <- switch(level, samples = 60L, full = 2000L, 0L)
begun <- proc.time()[[3L]]
secret <- "password|passwd|secret|token|api_?key|credential"

is_over <- function() proc.time()[[3L]] - begun > seconds

# Text that JSON can hold: no bytes that are no UTF-8.
clean <- function(text, limit = 120L) {
  substr(iconv(enc2utf8(text), "UTF-8", "UTF-8", sub = "?"), 1L, limit)
}

class_of <- function(x) {
  own <- attr(x, "class", exact = TRUE)
  if (is.character(own) && length(own)) clean(own[[1L]]) else typeof(x)
}

is_frame <- function(x) {
  typeof(x) == "list" && "data.frame" %in% attr(x, "class", exact = TRUE)
}

# How many elements a vector has, without asking a method; NULL when that would copy too much.
size_of <- function(x) {
  if (!is.object(x)) return(length(x))
  kind <- typeof(x)
  numbers <- kind %in% c("logical", "integer", "double", "complex", "raw")
  if (kind == "list" || numbers && utils::object.size(x) < 1e8) length(unclass(x)) else NULL
}

# Missing values of a plain vector of known length.
nulls_of <- function(x, n) {
  if (!typeof(x) %in% c("logical", "integer", "double", "complex", "character")) return(list())
  text <- typeof(x) == "character"
  if (!text && n <= counted || n <= sample_size) {
    return(list(nulls = sum(is.na(.subset(x, seq_len(n))))))
  }
  if (!text && !is.object(x) && n <= scanned && !anyNA(x)) return(list(nulls = 0L))
  at <- floor((seq_len(sample_size) - 1) * (n / sample_size)) + 1
  at <- pmin(at + (seq_len(sample_size) * 7919) %% floor(n / sample_size), n)
  seen <- sum(is.na(.subset(x, at)))
  list(nulls = round(as.double(seen) * n / sample_size), nulls_estimated = TRUE)
}

# The first values as text, of plain types and base's own classes.
values_of <- function(x, n) {
  some <- .subset(x, seq_len(min(count, n)))
  own <- attr(x, "class", exact = TRUE)
  if (identical(own, "factor") || identical(own, c("ordered", "factor"))) {
    some <- attr(x, "levels", exact = TRUE)[some]
  } else if (identical(own, "Date")) {
    some <- format.Date(.Date(as.double(some)))
  } else if ("POSIXct" %in% own) {
    some <- format.POSIXct(.POSIXct(as.double(some), tz = "UTC"))
  } else if (is.object(x)) {
    return(NULL)
  }
  if (!is.atomic(some)) return(NULL)
  told <- clean(as.character(as.vector(some)), width)
  as.list(ifelse(is.na(told), "NA", told))
}

column_of <- function(name, x, n) {
  told <- c(list(name = clean(name), dtype = class_of(x)), nulls_of(x, n))
  if (count && is.atomic(x) && !grepl(secret, name, ignore.case = TRUE)) {
    told$sample <- values_of(x, n)
  }
  told
}

frame_of <- function(x) {
  names <- attr(x, "names", exact = TRUE)
  rows <- .row_names_info(x, 2L)
  columns <- list()
  for (i in seq_len(min(length(names), most_columns))) {
    if (is_over()) break
    columns[[i]] <- column_of(names[[i]], .subset2(x, i), rows)
  }
  list(
    shape = list(rows, length(names)), columns = columns, columns_total = length(names)
  )
}

vector_of <- function(x, name) {
  dims <- attr(x, "dim", exact = TRUE)
  n <- size_of(x)
  told <- list()
  if (is.integer(dims)) told$shape <- as.list(dims) else if (!is.null(n)) told$size <- n
  if (is.object(x) || is.integer(dims)) told$dtype <- typeof(x)
  if (!is.null(n)) told <- c(told, nulls_of(x, n))
  if (count && !is.null(n)) told$sample <- values_of(x, n)
  told
}

list_of <- function(x) {
  n <- size_of(x)
  if (is.null(n)) return(list())
  some <- .subset(x, seq_len(min(n, 30L)))
  kinds <- unique(vapply(seq_along(some), function(i) class_of(.subset2(some, i)), ""))
  list(size = n, items = as.list(utils::head(kinds, 4L)))
}

describe <- function(name, x) {
  told <- list(name = clean(name), type = class_of(x))
  if (is_over()) return(c(told, skipped = TRUE))
  if (count && grepl(secret, name, ignore.case = TRUE)) {
    return(c(told, hidden = TRUE))
  }
  more <- tryCatch(
    if (is_frame(x)) frame_of(x)
    else if (is.atomic(x) && !is.null(x)) vector_of(x, name)
    else if (typeof(x) == "list") list_of(x)
    else list(),
    error = function(e) list(failed = "error")
  )
  c(told, more)
}

workspace <- globalenv()
known <- ls(workspace, sorted = FALSE)
if (length(wanted)) known <- intersect(known, wanted)
unlisted <- max(0L, length(known) - most_names)
known <- utils::head(known, most_names)
functions <- character()
described <- list()
more <- character()
for (name in known) {
  if (bindingIsActive(as.name(name), workspace)) {
    described[[length(described) + 1L]] <- list(name = clean(name), type = "active binding")
    next
  }
  x <- get(name, envir = workspace, inherits = FALSE)
  if (is.function(x) && !length(wanted)) {
    functions <- c(functions, name)
  } else if (length(described) < most_variables) {
    described[[length(described) + 1L]] <- describe(name, x)
  } else {
    more <- c(more, name)
  }
}
told <- list(
  variables = described,
  total = length(described) + length(more),
  more = as.list(clean(more)),
  functions = as.list(clean(functions)),
  unlisted = unlisted,
  seconds = proc.time()[[3L]] - begun
)
text <- jsonlite::toJSON(told, auto_unbox = TRUE, null = "null", na = "null", digits = NA)
answer <- list()
answer[[mime]] <- as.character(text)
IRdisplay::publish_mimebundle(answer)
invisible(NULL)
