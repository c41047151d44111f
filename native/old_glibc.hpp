// Included before all else in the kernels, so that they run where glibc is older than the one they are compiled with.
//
// glibc 2.29 has exp, log and pow once more, and 2.35 hypot, under a new version of their names, without the handling of
// errors that System V asked for; these are the old ones, which give the same numbers and are in every glibc.
#pragma once

#if __has_include(<features.h>)
#include <features.h>
#endif

#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver exp, exp@GLIBC_2.2.5");
__asm__(".symver log, log@GLIBC_2.2.5");
__asm__(".symver pow, pow@GLIBC_2.2.5");
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver exp, exp@GLIBC_2.17");
__asm__(".symver log, log@GLIBC_2.17");
__asm__(".symver pow, pow@GLIBC_2.17");
__asm__(".symver hypot, hypot@GLIBC_2.17");
#endif
