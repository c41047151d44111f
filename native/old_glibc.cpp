// The C++ library, where it is linked in, asks glibc 2.32 whether the process has a single thread, so as to do without
// atomic operations. Older ones have no answer; this one, of the module alone, is that there may be several.
extern "C" {
extern char __libc_single_threaded;
[[gnu::visibility("hidden")]] char __libc_single_threaded = 0;
}
