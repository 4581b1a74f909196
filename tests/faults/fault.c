/**
 * Preloaded into fovea: makes the n-th call of a kind fail, or kills the process at that call.
 *
 *     FOVEA_FAULT=KIND:N:ERRNO
 *
 * KIND is one of `kinds` below. Calls are counted from 1, in all processes together, in the file
 * FOVEA_FAULT_COUNT, which must have 8 bytes; N = 0 only counts. `allocs` fails from the n-th on.
 * Only calls of fovea and of libraries that report what fails are counted: oneDNN, the C++ library,
 * Fontconfig and cairo end the process themselves.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum Kind { NONE, ALLOC, ALLOCS, WRITE, FSYNC, RENAME, OPEN, MMAP, FORK, KILL } Kind;

static const char *const kinds[] = {"none",   "alloc", "allocs", "write", "fsync",
                                    "rename", "open",  "mmap",   "fork",  "kill"};

static Kind kind;
static uint64_t fails_at;
static int cause;
static _Atomic uint64_t *calls; // shared with the children

/* ---- who calls ---- */

static struct { uintptr_t begin, end; } counted[64];
static int counted_count;

static int add_object(struct dl_phdr_info *info, size_t size, void *data) {
  static const char *const names[] = {"libc.so", "libjansson", "libpng",
                                      "libz.so", "libinih",    "libgif"};
  (void)size, (void)data;
  bool counts = !*info->dlpi_name; // the program
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    counts = counts || strstr(info->dlpi_name, names[i]);
  for (int i = 0; counts && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || counted_count == 64) continue;
    uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    counted[counted_count].begin = begin;
    counted[counted_count++].end = begin + part->p_memsz;
  }
  return 0;
}

/** In a call that another library has made of the C library, which allocates in turn. */
static _Thread_local int foreign;

static bool is_counted(const void *caller) {
  if (foreign > 0) return false;
  for (int i = 0; i < counted_count; i++)
    if ((uintptr_t)caller >= counted[i].begin && (uintptr_t)caller < counted[i].end) return true;
  return false;
}

/** Whether this call fails; sets errno. */
static bool fails(Kind called, const void *caller) {
  if (kind == NONE || !(called == kind || (called == ALLOC && kind == ALLOCS)) ||
      !is_counted(caller))
    return false;
  uint64_t number = atomic_fetch_add(calls, 1) + 1;
  if (fails_at == 0 || !(number == fails_at || (kind == ALLOCS && number > fails_at))) return false;
  if (kind == KILL) kill(getpid(), SIGKILL);
  errno = cause;
  return true;
}

#define FAILS(called) fails(called, __builtin_return_address(0))
#define KILLS() ((void)fails(KILL, __builtin_return_address(0)))

__attribute__((constructor)) static void start(void) {
  char *text = getenv("FOVEA_FAULT"), *file = getenv("FOVEA_FAULT_COUNT"), *rest;
  if (!text || !file || !(rest = strchr(text, ':'))) return;
  dl_iterate_phdr(add_object, NULL);
  int fd = (int)syscall(SYS_open, file, O_RDWR | O_CLOEXEC);
  void *shared = (void *)syscall(SYS_mmap, NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || shared == MAP_FAILED) abort();
  syscall(SYS_close, fd);
  calls = shared;
  fails_at = strtoull(rest + 1, &rest, 10);
  cause = *rest ? atoi(rest + 1) : ENOMEM;
  for (int k = 0; k <= KILL; k++)
    if (strncmp(text, kinds[k], strlen(kinds[k])) == 0 && text[strlen(kinds[k])] == ':')
      kind = (Kind)k;
}

/* ---- memory ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  return FAILS(ALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  return FAILS(ALLOC) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  return FAILS(ALLOC) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return FAILS(ALLOC) ? NULL : __libc_memalign(alignment, size);
}

char *strdup(const char *text) { // so that it counts whose string it is
  char *copy = FAILS(ALLOC) ? NULL : __libc_malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

/* ---- files ---- */

#define REAL(type, name, ...)                                                                      \
  static type (*real)(__VA_ARGS__);                                                                \
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  KILLS();
  return FAILS(OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

FILE *fopen64(const char *path, const char *mode) {
  REAL(FILE *, "fopen64", const char *, const char *);
  KILLS();
  if (FAILS(OPEN)) return NULL;
  bool other = !is_counted(__builtin_return_address(0));
  foreign += other;
  FILE *file = real(path, mode);
  foreign -= other;
  return file;
}

DIR *opendir(const char *path) {
  REAL(DIR *, "opendir", const char *);
  if (FAILS(OPEN)) return NULL;
  bool other = !is_counted(__builtin_return_address(0));
  foreign += other;
  DIR *folder = real(path);
  foreign -= other;
  return folder;
}

ssize_t write(int fd, const void *data, size_t size) {
  KILLS();
  if (!FAILS(WRITE)) return syscall(SYS_write, fd, data, size);
  if (size < 2) return -1;
  // A full disk takes a part first.
  ssize_t part = syscall(SYS_write, fd, data, size / 2);
  fails_at++; // the next one fails
  return part;
}

int fsync(int fd) {
  KILLS();
  return FAILS(FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to) {
  KILLS();
  return FAILS(RENAME) ? -1 : (int)syscall(SYS_rename, from, to);
}

int unlink(const char *path) {
  KILLS();
  return (int)syscall(SYS_unlink, path);
}

int unlinkat(int folder, const char *path, int flags) {
  KILLS();
  return (int)syscall(SYS_unlinkat, folder, path, flags);
}

int mkdir(const char *path, mode_t mode) {
  KILLS();
  return (int)syscall(SYS_mkdir, path, mode);
}

int ftruncate64(int fd, off_t size) {
  KILLS();
  return (int)syscall(SYS_ftruncate, fd, size);
}

int flock(int fd, int operation) {
  KILLS();
  return (int)syscall(SYS_flock, fd, operation);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (FAILS(MMAP)) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

/* ---- processes ---- */

pid_t fork(void) {
  REAL(pid_t, "fork", void);
  if (FAILS(FORK)) return -1;
  return real();
}

/** A signal to each process of the user would also end the test. */
int kill(pid_t process, int signal) {
  if (process <= 0) abort();
  return (int)syscall(SYS_kill, process, signal);
}
