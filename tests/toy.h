/** Toy environments and a training on one of them: exact results in little time.
 *
 * `toy` shows a pattern to name; `toy_turns` shows three patterns and asks for the first one to
 * three in turn; `toy_game` is a control task, a patch to move to the middle; `toy_find` shows a
 * patch and its pattern as a cue, and asks once or twice for two numbers; `toy_walk` shows a vector
 * that depends on the place, asks for another one and ends where x is beyond ±TOY_EDGE;
 * `toy_letters` shows 1 to TOY_LETTERS symbols of four and asks, from the last one to the first,
 * which are odd, and for an end. */
#ifndef FOV_TESTS_TOY_H
#define FOV_TESTS_TOY_H

#include "experiment/experiment.h"

/** Gradient descent with a constant rate. */
#define TOY_DESCENT                                                                                \
  "optimiser = sgd\noptimiser.momentum = 0\ntrain.schedule = constant\ntrain.warmup = 0\n"

/** An update is exactly value −= gradient. */
#define TOY_PLAIN TOY_DESCENT "train.rate = 1\ntrain.clip = 0\n"

/** Filters for the toy's glimpses of 4 x 4 pixels. */
#define TOY_SMALL_FILTERS "encoder.filters = 3\nencoder.side = 3\nencoder.stride = 1\n"

/** The agent of Ba et al. 2015, on a coarse view of 3 x 3 cells. */
#define TOY_TWO_LAYERS "layers = 2\ncontext.side = 3\ncontext.width = 7\n"

/** Nine tiles, for an attention that reads them all. */
#define TOY_TILES "policy = centre\ntiles.side = 3\ntiles.width = 6\n"
#define TOY_SOFT "attention = soft\n" TOY_TILES

/** Two transformer blocks among the tiles. */
#define TOY_BLOCKS "tiles.blocks = 2\ntiles.block_heads = 3\ntiles.block_hidden = 5\n"

/** Patches of two scales through a window that starts a little smaller than the image, with all of
 * its gradient; to be completed by the name of an attention. */
#define TOY_WINDOW "sensor.scales = 2\nattention.start = 0.83\nattention.gradient = 1\nattention = "

/** A choice among nine tiles, for an attention that reads one. */
#define TOY_SITES "policy = sites\ntiles.side = 3\ntiles.width = 6\n"

/** Keys from a coarse view of 6 x 6 cells. */
#define TOY_COARSE "tiles.keys = coarse\ntiles.cells = 2\n"

/** Four shards, the last of them short, and more numbers than one task steps. */
#define TOY_MANY "train.batch = 200\ncore.width = 150\n"

/** Sequences, for an attention over symbols; TOY_RNN reads them in both directions. */
#define TOY_SEQUENCE "env = toy_letters\nglimpses = 1\nprevious = 3\nglimpse.width = 6\n"
#define TOY_RNN "tiles.rnn = gru\n"

#define TOY_EDGE 0.6

enum { TOY_LETTERS = 5, TOY_ROOM = 6 }; // the longest sequence, and the room for it

enum { TOY_WALK = 6, TOY_SEEN = 4 }; // steps of toy_walk, numbers that it shows

enum { TOY_SIDE = 20, TOY_ACTIONS = 3, TOY_LOG = 1024, TOY_TURNS = 3, TOY_MOVES = 8 };

/** The experiment that its settings describe, on the training split. Its address must not change.
 */
typedef struct Toy {
  FovExperiment experiment;
  FovEnv env;
  FovTask task;
  FovTraining training;
} Toy;

/** Builds a small agent for the toy environment; `settings` are lines of key = value that change
 * it. Fails the test if they are wrong. */
void toy_create(Toy *toy, const char *settings);
void toy_finish(Toy *toy);

/** A trainer for the toy's training; fails the test if there is none. */
FovTrainer *toy_trainer(const Toy *toy, int threads);

/** Makes `updates` updates; fails the test if one fails. */
void toy_train(FovTrainer *trainer, int updates);

/** Bytes of a block of its parameters. */
size_t toy_block_bytes(const Toy *toy);

/** A copy of a block, which the caller frees. */
real *toy_copy(const Toy *toy, const real *block);

/** Initial weights, enlarged so that results depend on image and location; freed by the caller. */
real *toy_lively_values(const Toy *toy);

/** The parameter of that name; fails the test if there is none. */
const FovParam *toy_param(const Toy *toy, const char *name);

/** Numbers of a parameter. */
size_t toy_count(const FovParam *param);

/** Whether the parameter's name starts with the prefix. */
bool toy_is_of(const FovParam *param, const char *prefix);

/** Fails the test unless two of its trainers are in the same state, bit for bit. */
void assert_same_state(const Toy *toy, FovTrainer *a, FovTrainer *b);

/** Symbols of a case of `toy_letters`. */
int toy_letters_length(int64_t index);

/** Labels of a case of `toy_turns`, one of which is label `turn`. */
int toy_turns_count(int64_t index);
int toy_turns_label(int64_t index, int turn);

/** One reset of the toy environment. */
typedef struct ToyReset {
  int64_t index;
  uint32_t draw; /**< the first number that its generator gave */
} ToyReset;

/** The resets of this thread since `toy_resets` was 0; the first TOY_LOG of them. */
extern _Thread_local ToyReset toy_log[TOY_LOG];
extern _Thread_local int toy_resets;

#endif
