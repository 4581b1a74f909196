/** Ranks that train together must compute the same bits from the same numbers: this compares them
 * before the training, and gives all of them the state of rank 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/gemm.h"
#include "base/team.h"
#include "base/version.h"
#include "experiment/session_parts.h"

enum { FACTS = 7, FACTS_OF_DATA = 5, FACT_SIZE = 80 };

/** What one rank has, as texts in the order of `names`. */
typedef struct Facts {
  char host[FOV_HOST_SIZE];
  char text[FACTS][FACT_SIZE];
} Facts;

static const struct {
  const char *name, *remedy;
} names[FACTS] = {
    {"the version of fovea", "start the same program on all hosts"},
    {"the digest of the program", "start the same program on all hosts"},
    {"the matrix library", "start the same program on all hosts"},
    {"the processor's instructions", "choose hosts with the same processors"},
    {"the digest of a matrix product", "choose hosts with the same processors and libraries"},
    {"the digest of the training data", "see env.data and $FOVEA_DATA"},
    {"the digest of the validation data", "see env.data and $FOVEA_DATA"},
};

enum { PRODUCT_ROWS = 48, PRODUCT_COLS = 176, PRODUCT_SUM = 1000 };

typedef struct Product {
  real a[PRODUCT_ROWS * PRODUCT_SUM], b[PRODUCT_SUM * PRODUCT_COLS], c[PRODUCT_ROWS * PRODUCT_COLS];
  FovDigest digest;
} Product;

/** Multiplies in the three ways of a training. Libraries choose their code by the processor, so
 * names do not show everything. */
static void multiply(void *context, int task, int worker) {
  (void)task, (void)worker;
  Product *p = context;
  FovRng rng = fov_rng_stream(0, FOV_STREAM_INIT, 0);
  const int M = PRODUCT_ROWS, N = PRODUCT_COLS, K = PRODUCT_SUM;
  for (int i = 0; i < M * K; i++) p->a[i] = fov_rng_normal(&rng);
  for (int i = 0; i < K * N; i++) p->b[i] = fov_rng_normal(&rng);
  FovMatrix c = {p->c, M, N, N};
  for (int way = 0; way < 3; way++) {
    FovMatrix a = way == 1 ? (FovMatrix){p->a, K, M, M} : (FovMatrix){p->a, M, K, K};
    FovMatrix b = way == 2 ? (FovMatrix){p->b, N, K, K} : (FovMatrix){p->b, K, N, N};
    fov_gemm(c, a, way == 1, b, way == 2, 0);
    fov_digest_add(&p->digest, p->c, sizeof p->c);
  }
}

static FovStatus print_product(char text[FACT_SIZE]) {
  Product *product = calloc(1, sizeof *product);
  if (!product) return fov_fail(FOV_ERR_MEMORY, "no memory to compare matrix products");
  product->digest = FOV_DIGEST_START;
  fov_team_run(1, 1, multiply, product);
  fov_digest_print(text, fov_digest_value(&product->digest));
  free(product);
  return FOV_OK;
}

/** The program's file: two builds may have the same version. */
static FovStatus print_program(char text[FACT_SIZE]) {
  enum { MOST = 1 << 30 };
  char *bytes;
  size_t size;
  FovDigest digest = FOV_DIGEST_START;
  FOV_TRY(fov_file_read(&bytes, &size, "/proc/self/exe", MOST));
  fov_digest_add(&digest, bytes, size);
  fov_digest_print(text, fov_digest_value(&digest));
  free(bytes);
  return FOV_OK;
}

static void print_instructions(char text[FACT_SIZE]) {
  struct utsname machine = {0};
  const char *level = "";
  uname(&machine);
#if defined __x86_64__
  __builtin_cpu_init();
  level = __builtin_cpu_supports("avx512f") ? " avx512f"
          : __builtin_cpu_supports("avx2")  ? " avx2"
          : __builtin_cpu_supports("avx")   ? " avx"
                                            : " sse2";
#endif
  snprintf(text, FACT_SIZE, "%.64s%s", machine.machine, level);
}

static FovStatus find_facts(Facts *facts, const FovSession *session) {
  memcpy(facts->host, session->request->ranks->host, sizeof facts->host);
  snprintf(facts->text[0], FACT_SIZE, "%s", fov_version);
  FOV_TRY(print_program(facts->text[1]));
  snprintf(facts->text[2], FACT_SIZE, "%s", fov_gemm_library());
  print_instructions(facts->text[3]);
  FOV_TRY(print_product(facts->text[4]));
  fov_digest_print(facts->text[FACTS_OF_DATA], session->train_env.spec.digest);
  fov_digest_print(facts->text[FACTS_OF_DATA + 1], session->valid_env.spec.digest);
  return FOV_OK;
}

/** Compares some facts of all ranks, and fails on all of them alike. */
static FovStatus compare_facts(FovRanks *ranks, const Facts *all, int first, int end) {
  FovStatus status = FOV_OK;
  for (int i = first; i < end && status == FOV_OK; i++)
    for (int r = 1; r < ranks->count && status == FOV_OK; r++)
      if (strcmp(all[0].text[i], all[r].text[i]) != 0)
        status = fov_fail(FOV_ERR_USAGE, "ranks 0 (%s) and %d (%s) differ in %s: %s and %s; %s",
                          all[0].host, r, all[r].host, names[i].name, all[0].text[i],
                          all[r].text[i], names[i].remedy);
  return fov_ranks_agree(ranks, status);
}

/** Fails with the first line that is not the one of rank 0. */
static FovStatus compare_config(const char *mine, const char *first) {
  while (*mine && *first) {
    int length = (int)strcspn(mine, "\n"), other = (int)strcspn(first, "\n");
    if (length != other || strncmp(mine, first, (size_t)length) != 0)
      return fov_fail(FOV_ERR_USAGE,
                      "a rank was started with '%.*s', rank 0 with '%.*s'; start all of them with "
                      "the same settings",
                      length, mine, other, first);
    mine += length + (mine[length] == '\n');
    first += other + (first[other] == '\n');
  }
  return FOV_OK;
}

FovStatus fov_session_share_text(const FovSession *session, char **text) {
  FovRanks *ranks = session->request->ranks;
  size_t size = *text ? strlen(*text) + 1 : 0;
  fov_ranks_broadcast(ranks, &size, sizeof size, 0);
  if (!*text && !(*text = malloc(size)))
    return fov_fail(FOV_ERR_MEMORY, "no memory for the configuration of rank 0");
  fov_ranks_broadcast(ranks, *text, size, 0);
  return FOV_OK;
}

static FovStatus compare_settings(const FovSession *session) {
  FovRanks *ranks = session->request->ranks;
  char *config = ranks->rank == 0 ? strdup(session->config) : NULL;
  FovStatus status = fov_session_share_text(session, &config);
  if (status == FOV_OK) status = fov_ranks_agree(ranks, compare_config(session->config, config));
  free(config);
  return status;
}

/** all: [ranks], this rank's filled in. */
static FovStatus compare(const FovSession *session, Facts *all) {
  FovRanks *ranks = session->request->ranks;
  fov_ranks_gather_each(ranks, all, sizeof *all);
  FOV_TRY(compare_facts(ranks, all, 0, FACTS_OF_DATA));
  FOV_TRY(compare_settings(session));
  return compare_facts(ranks, all, FACTS_OF_DATA, FACTS);
}

FovStatus fov_session_compare_ranks(const FovSession *session) {
  FovRanks *ranks = session->request->ranks;
  int count = fov_ranks_count(ranks);
  if (count == 1) return FOV_OK;
  Facts *all = calloc((size_t)count, sizeof *all);
  FovStatus status = all ? find_facts(&all[ranks->rank], session)
                         : fov_fail(FOV_ERR_MEMORY, "no memory to compare %d ranks", count);
  status = fov_ranks_agree(ranks, status);
  if (status == FOV_OK) status = compare(session, all);
  free(all);
  return status;
}

void fov_session_share_state(FovSession *session) {
  FovRanks *ranks = session->request->ranks;
  fov_trainer_broadcast(session->trainer);
  fov_ranks_broadcast(ranks, &session->best, sizeof session->best, 0);
  FovStandard *standard = &session->experiment.standard;
  fov_ranks_broadcast(ranks, standard, sizeof *standard, 0);
}
