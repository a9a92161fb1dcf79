#!/bin/sh
# The tests under AddressSanitizer and UndefinedBehaviorSanitizer, then a short simulation
# of every policy under valgrind. FILE=simulate runs one test file, without valgrind. Builds into a library of its own; stock R serves.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/asan" "$work/plain"
cat > "$work/Makevars" <<'END'
CFLAGS = -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
LDFLAGS = -fsanitize=address,undefined
END
cp -r . "$work/dpts"
rm -rf "$work/dpts/src/"*.o "$work/dpts/src/"*.so
# libasan must come first in the process, and R leaks by design.
asan="$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)"
R_MAKEVARS_USER="$work/Makevars" R CMD INSTALL --no-test-load --no-byte-compile \
  --library="$work/asan" "$work/dpts" > "$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
echo "== ASan and UBSan"
LD_PRELOAD="$asan" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
  R_LIBS="$work/asan" Rscript tools/test.R
if [ -z "${FILE:-}" ] && command -v valgrind > /dev/null; then
  echo "== valgrind"
  rm -f "$work/dpts/src/"*.o "$work/dpts/src/"*.so
  R CMD INSTALL --library="$work/plain" "$work/dpts" > "$work/install.log" 2>&1
  R_LIBS="$work/plain" R -d "valgrind --quiet --error-exitcode=9 --errors-for-leak-kinds=none" \
    --vanilla --no-echo -f tools/valgrind.R
fi
