/* Preloaded into a program: each write to a file takes a while longer as long as there is a file of the name that
   PREDTUI_SLOW_DISK gives. Pipes, terminals and sockets are not slowed down. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define DELAY_NS 200000000

static void wait_for(int file) {
  struct stat what;
  const char *slow = getenv("PREDTUI_SLOW_DISK");
  struct timespec delay = {0, DELAY_NS};
  if (slow && fstat(file, &what) == 0 && S_ISREG(what.st_mode) && what.st_nlink && access(slow, F_OK) == 0)
    nanosleep(&delay, 0);
}

ssize_t write(int file, const void *data, size_t size) {
  wait_for(file);
  return syscall(SYS_write, file, data, size);
}

int fsync(int file) {
  wait_for(file);
  return syscall(SYS_fsync, file);
}
