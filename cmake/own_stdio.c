/* Debian's archive of HDF5 is made for programs: it looks at stdout and stderr as if they were its own, which a shared library must
   not. Here they are its own: the linker puts these in their place (--wrap). */
#include <stdio.h>
#undef stdout
#undef stderr

extern FILE *__real_stdout, *__real_stderr;
__attribute__((visibility("hidden"))) FILE *__wrap_stdout, *__wrap_stderr;

/* Before any other constructor. */
__attribute__((constructor(101))) static void take_over(void) {
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
}
