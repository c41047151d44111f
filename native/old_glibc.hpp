// Included before all else in the kernels, so that they run where glibc is older than the one they are compiled with.
//
// glibc 2.29 has exp, log and pow once more, under a new version of their names, without the handling of errors that
// System V asked for; these are the old ones, which give the same numbers and are in every glibc.
#pragma once

#if defined(__x86_64__) && __has_include(<features.h>)
#include <features.h>
#ifdef __GLIBC__
__asm__(".symver exp, exp@GLIBC_2.2.5");
__asm__(".symver log, log@GLIBC_2.2.5");
__asm__(".symver pow, pow@GLIBC_2.2.5");
#endif
#endif
