#include "record/tfevents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are stored as in memory");

struct FovTfevents {
  int fd;
  char path[PATH_MAX];
};

/* ---- protocol buffers: a field is a key byte (number << 3 | type), then its value ---- */

enum {
  EVENT_WALL_TIME = 0x09,    /**< double */
  EVENT_STEP = 0x10,         /**< varint */
  EVENT_FILE_VERSION = 0x1a, /**< string */
  EVENT_SUMMARY = 0x2a,      /**< message */
  EVENT_SESSION_LOG = 0x3a,  /**< message */
  SUMMARY_VALUE = 0x0a,      /**< message */
  VALUE_TAG = 0x0a,          /**< string */
  VALUE_SIMPLE = 0x15,       /**< float */
  SESSION_LOG_STATUS = 0x08, /**< varint */
  SESSION_START = 1,
};

/** A message being built; the longest is an event around a summary around a value and its tag. */
typedef struct Message {
  uint8_t bytes[FOV_TAG_SIZE + 64];
  size_t size;
} Message;

static void put(Message *message, const void *bytes, size_t size) {
  FOV_CHECK(size <= sizeof message->bytes - message->size, "a message of more than its bound");
  memcpy(message->bytes + message->size, bytes, size);
  message->size += size;
}

static void put_varint(Message *message, uint64_t value) {
  for (; value >= 0x80; value >>= 7) put(message, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
  put(message, &(uint8_t){(uint8_t)value}, 1);
}

static void put_number(Message *message, uint8_t key, const void *number, size_t size) {
  put(message, &key, 1);
  put(message, number, size);
}

static void put_bytes(Message *message, uint8_t key, const void *bytes, size_t size) {
  put(message, &key, 1);
  put_varint(message, size);
  put(message, bytes, size);
}

static Message begin_event(double wall_time) {
  Message event = {.size = 0};
  put_number(&event, EVENT_WALL_TIME, &wall_time, sizeof wall_time);
  return event;
}

static Message begin_step(double wall_time, int64_t step) {
  Message event = begin_event(wall_time);
  put(&event, &(uint8_t){EVENT_STEP}, 1);
  put_varint(&event, (uint64_t)step);
  return event;
}

/* ---- records: length, its checksum, a message, its checksum ---- */

uint32_t fov_crc32c(const void *data, size_t size) {
  uint32_t crc = ~0u;
  for (const uint8_t *byte = data; size-- > 0; byte++) {
    crc ^= *byte;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

/** The format masks checksums, so that a checksum of data with checksums stays a good one. */
static uint32_t masked_crc(const void *data, size_t size) {
  uint32_t crc = fov_crc32c(data, size);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/** Writes a record at once, so that a watcher sees it. */
static FovStatus write_record(FovTfevents *events, const Message *message) {
  uint64_t length = message->size;
  uint32_t length_crc = masked_crc(&length, sizeof length);
  uint32_t crc = masked_crc(message->bytes, message->size);
  uint8_t record[sizeof message->bytes + 16];
  memcpy(record, &length, 8);
  memcpy(record + 8, &length_crc, 4);
  memcpy(record + 12, message->bytes, message->size);
  memcpy(record + 12 + message->size, &crc, 4);
  if (fov_write_all(events->fd, record, message->size + 16)) return FOV_OK;
  return fov_fail(FOV_ERR_IO, "%s: cannot write: %s", events->path, strerror(errno));
}

/* ---- the file ---- */

enum { ATTEMPTS = 100 };

/** Opens the first free name: a process may open several files in one second. */
static int create(char path[PATH_MAX], const char *folder, double wall_time) {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  int fd = -1;
  for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
    int n = snprintf(path, PATH_MAX, "%s/" FOV_TFEVENTS ".%010lld.%s.%ld.fovea", folder,
                     (long long)wall_time, host, (long)getpid());
    if (i > 0 && n < PATH_MAX) n += snprintf(path + n, (size_t)(PATH_MAX - n), ".%d", i);
    if (n >= PATH_MAX)
      errno = ENAMETOOLONG;
    else
      fd = TEMP_FAILURE_RETRY(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd < 0 && errno != EEXIST) break;
  }
  return fd;
}

static FovStatus write_start(FovTfevents *events, double wall_time, bool resumed, int64_t step) {
  static const char version[] = "brain.Event:2";
  static const uint8_t start[] = {SESSION_LOG_STATUS, SESSION_START};
  Message first = begin_event(wall_time);
  put_bytes(&first, EVENT_FILE_VERSION, version, sizeof version - 1);
  FOV_TRY(write_record(events, &first));
  if (!resumed) return FOV_OK;
  Message restart = begin_step(wall_time, step);
  put_bytes(&restart, EVENT_SESSION_LOG, start, sizeof start);
  return write_record(events, &restart);
}

FovStatus fov_tfevents_open(FovTfevents **result, const char *folder, double wall_time,
                            bool resumed, int64_t step) {
  *result = NULL;
  FovTfevents *events = calloc(1, sizeof *events);
  if (!events) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for an event file", folder);
  events->fd = create(events->path, folder, wall_time);
  FovStatus status = events->fd >= 0 ? write_start(events, wall_time, resumed, step)
                                     : fov_fail(FOV_ERR_IO, "%s: cannot create: %s", events->path,
                                                strerror(errno));
  if (status == FOV_OK)
    *result = events;
  else
    fov_tfevents_close(events);
  return status;
}

FovStatus fov_tfevents_scalar(FovTfevents *events, const char *tag, int64_t step, float value,
                              double wall_time) {
  FOV_CHECK(strlen(tag) < FOV_TAG_SIZE, "a tag of %zu bytes: %s", strlen(tag), tag);
  Message point = {.size = 0}, summary = {.size = 0}, event = begin_step(wall_time, step);
  put_bytes(&point, VALUE_TAG, tag, strlen(tag));
  put_number(&point, VALUE_SIMPLE, &value, sizeof value);
  put_bytes(&summary, SUMMARY_VALUE, point.bytes, point.size);
  put_bytes(&event, EVENT_SUMMARY, summary.bytes, summary.size);
  return write_record(events, &event);
}

/** Curves of extra columns that had a name of their own before there were extra columns. */
static const struct {
  const char *name, *tag;
} extra_tags[] = {{"policy_sigma", "train/sigma"},
                  {"answer_loss", "train/class_loss"},
                  {"baseline_loss", "train/baseline_loss"}};

static void print_extra_tag(char tag[FOV_TAG_SIZE], const char *name) {
  snprintf(tag, FOV_TAG_SIZE, "extra/%s", name);
  for (size_t i = 0; i < sizeof extra_tags / sizeof *extra_tags; i++)
    if (strcmp(extra_tags[i].name, name) == 0) snprintf(tag, FOV_TAG_SIZE, "%s", extra_tags[i].tag);
}

/** Adds a point, if it has a number. */
static FovStatus add_point(FovTfevents *events, const char *tag, int64_t step, double value,
                           double wall_time) {
  if (!isfinite(value)) return FOV_OK;
  return fov_tfevents_scalar(events, tag, step, (float)value, wall_time);
}

FovStatus fov_tfevents_row(FovTfevents *events, const FovProgress *row, double wall_time) {
  const struct {
    const char *tag;
    double value;
  } points[] = {
      {"train/error", row->train_error},
      {"train/reward", row->train_reward},
      {"train/gradient_norm", row->gradient_norm},
      {"train/rate", row->rate},
      {"train/glimpses_per_second", row->glimpses_per_second},
      {"valid/error", row->valid_error},
      {"valid/reward", row->valid_reward},
  };
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    FOV_TRY(add_point(events, points[i].tag, row->update, points[i].value, wall_time));
  for (int i = 0; i < row->extra_count; i++) {
    char tag[FOV_TAG_SIZE];
    print_extra_tag(tag, row->extra[i].name);
    FOV_TRY(add_point(events, tag, row->update, row->extra[i].value, wall_time));
  }
  return FOV_OK;
}

void fov_tfevents_close(FovTfevents *events) {
  if (!events) return;
  if (events->fd >= 0) close(events->fd);
  free(events);
}
