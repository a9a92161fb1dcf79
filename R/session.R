# The session of src/session.h as R sees it.
