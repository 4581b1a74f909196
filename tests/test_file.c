#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/folder.h"

/* ---- system calls that fail when asked to, by the linker's --wrap ---- */

/** The next call of each kind fails with this errno, if it is not 0. */
static struct {
  int fail_open, fail_read, fail_write, fail_fsync;
  size_t write_at_most; /**< bytes of a call; 0: any */
  bool read_nothing;    /**< the file has just become empty */
} calls;

static bool fails(int *cause) {
  errno = *cause;
  *cause = 0;
  return errno != 0;
}

int __real_open64(const char *name, int flags, ...);
int __wrap_open64(const char *name, int flags, mode_t mode);
ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_open64(const char *name, int flags, mode_t mode) {
  return fails(&calls.fail_open) ? -1 : __real_open64(name, flags, mode);
}

ssize_t __wrap_read(int fd, void *data, size_t size) {
  if (calls.read_nothing) return 0;
  return fails(&calls.fail_read) ? -1 : __real_read(fd, data, size);
}

ssize_t __wrap_write(int fd, const void *data, size_t size) {
  if (calls.write_at_most > 0 && size > calls.write_at_most) size = calls.write_at_most;
  return fails(&calls.fail_write) ? -1 : __real_write(fd, data, size);
}

int __wrap_fsync(int fd) {
  return fails(&calls.fail_fsync) ? -1 : __real_fsync(fd);
}

static int enter(void **state) {
  (void)state;
  return make_folder("x.txt");
}

static int count_files(void) {
  DIR *dir = opendir(folder);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(dir));)
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(dir);
  return count;
}

static void assert_content(const char *expected) {
  char *data;
  size_t size;
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 20), FOV_OK);
  assert_int_equal(size, strlen(expected));
  assert_string_equal(data, expected);
  free(data);
}

static void test_write_replaces(void **state) {
  (void)state;
  assert_false(fov_file_exists(path));
  assert_int_equal(fov_file_write(path, "a longer text", 13), FOV_OK);
  assert_content("a longer text");
  assert_int_equal(fov_file_write(path, "short", 5), FOV_OK);
  assert_content("short");
  assert_int_equal(fov_file_write(path, "", 0), FOV_OK);
  assert_content("");
  assert_int_equal(count_files(), 1);
}

static void test_write_in_the_current_folder(void **state) {
  (void)state;
  int before = open(".", O_RDONLY);
  assert_int_equal(chdir(folder), 0);
  assert_int_equal(fov_file_write("x.txt", "here", 4), FOV_OK);
  assert_int_equal(fchdir(before), 0);
  close(before);
  assert_content("here");
}

static void test_the_old_file_stays_until_commit(void **state) {
  (void)state;
  FovReplace replace;
  assert_int_equal(fov_file_write(path, "old", 3), FOV_OK);
  assert_int_equal(fov_replace_begin(&replace, path), FOV_OK);
  fputs("new", replace.stream);
  fflush(replace.stream);
  assert_content("old");
  assert_int_equal(fov_replace_commit(&replace), FOV_OK);
  assert_content("new");
  fov_replace_abort(&replace);
  assert_content("new");
}

static void test_abort_leaves_nothing(void **state) {
  (void)state;
  FovReplace replace = {0};
  fov_replace_abort(&replace);
  assert_int_equal(fov_replace_begin(&replace, path), FOV_OK);
  assert_int_equal(count_files(), 1);
  fov_replace_abort(&replace);
  assert_int_equal(count_files(), 0);
}

static void test_a_stale_file_or_planted_link_is_not_followed(void **state) {
  (void)state;
  char stale[600], victim[512];
  FovReplace replace;
  assert_int_equal(fov_replace_begin(&replace, path), FOV_OK);
  snprintf(stale, sizeof stale, "%s", replace.beside);
  fov_replace_abort(&replace);
  snprintf(victim, sizeof victim, "%s/victim", folder);
  assert_int_equal(symlink(victim, stale), 0);
  assert_int_equal(fov_file_write(path, "x", 1), FOV_OK);
  assert_false(fov_file_exists(victim));
  assert_int_equal(count_files(), 1);
}

/** A limit on the file size stands in for a full disk. */
static void test_a_full_disk_keeps_the_old_file(void **state) {
  (void)state;
  static char data[100000];
  assert_int_equal(fov_file_write(path, "old", 3), FOV_OK);
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 50000;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  FovStatus status = fov_file_write(path, data, sizeof data);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(status, FOV_ERR_IO);
  assert_message("x.txt: cannot write: File too large");
  assert_content("old");
  assert_int_equal(count_files(), 1);
}

/** The first failure is reported, even if a later write succeeds. */
static void test_the_first_failed_write_gives_the_reason(void **state) {
  (void)state;
  const int causes[] = {ENOSPC, EDQUOT, EIO};
  assert_int_equal(fov_file_write(path, "old", 3), FOV_OK);
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
    char expected[100];
    snprintf(expected, sizeof expected, "x.txt: cannot write: %s", strerror(causes[i]));
    calls.fail_write = causes[i];
    assert_int_equal(fov_file_write(path, "new", 3), FOV_ERR_IO);
    assert_message(expected);
    assert_content("old");
  }
  calls.fail_fsync = ENOSPC;
  assert_int_equal(fov_file_write(path, "new", 3), FOV_ERR_IO);
  assert_message("x.txt: cannot write: No space left on device");
  assert_content("old");
  assert_int_equal(count_files(), 1);
}

static void test_interrupted_calls_are_repeated(void **state) {
  (void)state;
  calls.fail_open = calls.fail_write = calls.fail_fsync = EINTR;
  assert_int_equal(fov_file_write(path, "new", 3), FOV_OK);
  assert_int_equal(calls.fail_open | calls.fail_write | calls.fail_fsync, 0);
  calls.fail_open = calls.fail_read = EINTR;
  assert_content("new");
  assert_int_equal(calls.fail_open | calls.fail_read, 0);
}

static void test_partial_writes_are_completed(void **state) {
  (void)state;
  calls.write_at_most = 1;
  assert_int_equal(fov_file_write(path, "byte by byte", 12), FOV_OK);
  calls.write_at_most = 0;
  assert_content("byte by byte");
}

static void end_process(int signal_number) {
  (void)signal_number;
  fov_replace_abort_all();
  _exit(3);
}

static void test_a_signal_removes_unfinished_files(void **state) {
  (void)state;
  assert_int_equal(fov_file_write(path, "old", 3), FOV_OK);
  pid_t child = fork();
  if (child == 0) {
    FovReplace first, second;
    char other[600];
    snprintf(other, sizeof other, "%s/y.txt", folder);
    signal(SIGTERM, end_process);
    if (fov_replace_begin(&first, path) || fov_replace_begin(&second, other)) _exit(1);
    if (count_files() != 3) _exit(2);
    raise(SIGTERM);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(WEXITSTATUS(status), 3);
  assert_content("old");
  assert_int_equal(count_files(), 1);
}

static void test_abort_all_leaves_other_files_alone(void **state) {
  (void)state;
  FovReplace replace;
  assert_int_equal(fov_file_write(path, "old", 3), FOV_OK);
  fov_replace_abort_all();
  assert_int_equal(count_files(), 1);
  assert_int_equal(fov_replace_begin(&replace, path), FOV_OK);
  fov_replace_abort_all();
  assert_int_equal(count_files(), 1);
  assert_int_equal(fov_replace_commit(&replace), FOV_ERR_IO);
  assert_message("x.txt: cannot write: No such file or directory");
  assert_content("old");
}

/** More than fov_replace_abort_all can remove are still written. */
static void test_many_replacements_at_once(void **state) {
  (void)state;
  FovReplace many[40];
  char name[600];
  for (int i = 0; i < 40; i++) {
    snprintf(name, sizeof name, "%s/%d", folder, i);
    assert_int_equal(fov_replace_begin(&many[i], name), FOV_OK);
  }
  for (int i = 0; i < 40; i++) {
    snprintf(name, sizeof name, "%s/%d", folder, i);
    assert_int_equal(fov_replace_commit(&many[i]), FOV_OK);
    assert_int_equal(unlink(name), 0);
  }
  assert_int_equal(count_files(), 0);
}

static void test_a_missing_folder_is_named(void **state) {
  (void)state;
  char missing[600];
  snprintf(missing, sizeof missing, "%s/none/x.txt", folder);
  assert_int_equal(fov_file_write(missing, "x", 1), FOV_ERR_IO);
  assert_message("none/x.txt: cannot create: No such file or directory");
  assert_int_equal(fov_make_folders(""), FOV_ERR_IO);
}

static void test_a_folder_is_not_replaced(void **state) {
  (void)state;
  assert_int_equal(mkdir(path, 0777), 0);
  assert_int_equal(fov_file_write(path, "x", 1), FOV_ERR_IO);
  assert_message("x.txt: cannot write: not a regular file");
  assert_int_equal(count_files(), 1);
  assert_int_equal(rmdir(path), 0);
}

static void test_a_device_is_not_replaced(void **state) {
  (void)state;
  assert_int_equal(symlink("/dev/null", path), 0);
  assert_int_equal(fov_file_write(path, "x", 1), FOV_ERR_IO);
  assert_message("x.txt: cannot write: not a regular file");
}

/** Makes an empty file of that name in the folder. */
static void touch(const char *name) {
  char file[600];
  snprintf(file, sizeof file, "%s/%s", folder, name);
  int fd = open(file, O_WRONLY | O_CREAT, 0666);
  assert_true(fd >= 0);
  close(fd);
}

static void test_a_sweep_removes_files_of_dead_processes_of_this_host(void **state) {
  (void)state;
  pid_t dead = fork(); // Its process id stays unused for a while.
  if (dead == 0) _exit(0);
  assert_int_equal(waitpid(dead, NULL, 0), dead);
  char host[65] = "", left[128], alive[128], elsewhere[128], longer[128], wrong[128];
  assert_int_equal(gethostname(host, sizeof host - 1), 0);
  snprintf(left, sizeof left, ".x.txt.%s.%ld.tmp", host, (long)dead);
  snprintf(alive, sizeof alive, ".x.txt.%s.%ld.tmp", host, (long)getpid());
  snprintf(elsewhere, sizeof elsewhere, ".x.txt.not-%s.%ld.tmp", host, (long)dead);
  snprintf(longer, sizeof longer, ".x.txt.%s.not.%ld.tmp", host, (long)dead);
  snprintf(wrong, sizeof wrong, ".x.txt.%s.%lda.tmp", host, (long)dead);
  const char *const stay[] = {alive,    elsewhere, longer,   wrong,  "x.txt",
                              ".x.txt", "x.1.tmp", ".x.tmp", ".tmp", ".9999999.tmp"};
  touch(left);
  for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) touch(stay[i]);
  assert_int_equal(fov_replace_sweep(folder), FOV_OK);
  assert_int_equal(count_files(), sizeof stay / sizeof *stay);
  for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) {
    char file[600];
    snprintf(file, sizeof file, "%s/%s", folder, stay[i]);
    assert_int_equal(unlink(file), 0);
  }
}

static void test_read_stops_at_its_limit(void **state) {
  (void)state;
  char *data;
  size_t size;
  assert_int_equal(fov_file_write(path, "12345", 5), FOV_OK);
  assert_int_equal(fov_file_read(&data, &size, path, 5), FOV_OK);
  assert_memory_equal(data, "12345", 6);
  free(data);
  assert_int_equal(fov_file_read(&data, &size, path, 4), FOV_ERR_FORMAT);
  assert_null(data);
  assert_message("x.txt: 5 bytes, expected at most 4");
}

static void test_read_refuses_what_is_not_a_file(void **state) {
  (void)state;
  char *data;
  size_t size;
  assert_int_equal(fov_file_read(&data, &size, path, 10), FOV_ERR_IO);
  assert_message("x.txt: cannot open: No such file or directory");
  assert_int_equal(fov_file_read(&data, &size, folder, 1 << 20), FOV_ERR_IO);
  assert_message("expected a regular file, found a ");
  assert_int_equal(mkfifo(path, 0666), 0);
  assert_int_equal(fov_file_read(&data, &size, path, 10), FOV_ERR_IO);
  assert_message("expected a regular file, found a ");
}

static void test_a_file_that_shrinks_is_refused(void **state) {
  (void)state;
  char *data;
  size_t size;
  assert_int_equal(fov_file_write(path, "four", 4), FOV_OK);
  calls.read_nothing = true;
  FovStatus status = fov_file_read(&data, &size, path, 10);
  calls.read_nothing = false;
  assert_int_equal(status, FOV_ERR_IO);
  assert_message("x.txt: ends after 0 of 4 bytes: it shrank while being read");
}

static void assert_last_line(const char *text, size_t size, const char *expected) {
  char line[8];
  assert_int_equal(fov_file_write(path, text, size), FOV_OK);
  int fd = open(path, O_RDONLY);
  fov_file_last_line(line, sizeof line, fd);
  close(fd);
  assert_string_equal(line, expected);
}

static void test_the_last_line_is_found(void **state) {
  (void)state;
  static char text[10000];
  char line[8];
  memset(text, 'x', sizeof text);
  memcpy(text + sizeof text - 5, "\nab\n\n", 5);
  assert_last_line("", 0, "");
  assert_last_line("\n\n", 2, "");
  assert_last_line("one", 3, "one");
  assert_last_line("one\ntwo\n", 8, "two");
  assert_last_line("two words and more\n", 19, "two wor");
  assert_last_line(text, sizeof text, "ab");
  assert_last_line(text, 9000, "xxxxxxx"); // its start is not looked at
  fov_file_last_line(line, sizeof line, -1);
  assert_string_equal(line, "");
}

/** path: in `folder`; "": the folder itself. */
static void assert_folder(const char *name, FovStatus expected) {
  char below[700];
  snprintf(below, sizeof below, "%s%s%s", folder, *name ? "/" : "", name);
  assert_int_equal(fov_folder_check(below), expected);
}

static void test_a_folder_is_checked_before_it_is_needed(void **state) {
  (void)state;
  char name[NAME_MAX + 2] = {0};
  assert_int_equal(fov_file_write(path, "", 0), FOV_OK);
  assert_folder("", FOV_OK);
  assert_folder("a", FOV_OK);
  assert_folder("a/b//c/", FOV_OK);
  assert_int_equal(fov_folder_check("here"), FOV_OK);
  assert_int_equal(fov_folder_check("/"), FOV_OK);
  assert_folder("x.txt", FOV_ERR_IO);
  assert_non_null(strstr(fov_error_message(), "x.txt: expected a folder to write into: Not a"));
  assert_folder("x.txt/a", FOV_ERR_IO);
  memset(name, 'x', NAME_MAX + 1);
  assert_folder(name, FOV_ERR_IO);
  char link[700];
  snprintf(link, sizeof link, "%s/link", folder);
  assert_int_equal(symlink("/absent/target", link), 0);
  assert_folder("link", FOV_ERR_IO);
  assert_non_null(strstr(fov_error_message(), "link: expected a folder to write into: No such"));
  assert_folder("link/", FOV_ERR_IO);
  assert_folder("link//a", FOV_ERR_IO);
  assert_int_equal(unlink(link), 0);
  assert_int_equal(count_files(), 1);
  assert_int_equal(fov_replace_check(path), FOV_OK);
  assert_int_equal(count_files(), 1);
  assert_int_equal(fov_replace_check(folder), FOV_ERR_IO);
  assert_int_equal(fov_replace_check("/absent/x"), FOV_ERR_IO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_write_replaces),
      TEST(test_write_in_the_current_folder),
      TEST(test_the_old_file_stays_until_commit),
      TEST(test_abort_leaves_nothing),
      TEST(test_a_stale_file_or_planted_link_is_not_followed),
      TEST(test_a_full_disk_keeps_the_old_file),
      TEST(test_the_first_failed_write_gives_the_reason),
      TEST(test_interrupted_calls_are_repeated),
      TEST(test_partial_writes_are_completed),
      TEST(test_a_signal_removes_unfinished_files),
      TEST(test_abort_all_leaves_other_files_alone),
      TEST(test_many_replacements_at_once),
      TEST(test_a_missing_folder_is_named),
      TEST(test_a_folder_is_not_replaced),
      TEST(test_a_device_is_not_replaced),
      TEST(test_a_sweep_removes_files_of_dead_processes_of_this_host),
      TEST(test_read_stops_at_its_limit),
      TEST(test_read_refuses_what_is_not_a_file),
      TEST(test_a_file_that_shrinks_is_refused),
      TEST(test_the_last_line_is_found),
      TEST(test_a_folder_is_checked_before_it_is_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
