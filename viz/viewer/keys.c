#include "viz/viewer/keys.h"

const FovKey fov_keys[] = {
    {' ', FOV_ACTION_PLAY, "Space", "play, pause"},
    {0, FOV_ACTION_NONE, "Left, Right", "one glimpse, or output of a sequence"},
    {0, FOV_ACTION_NONE, "PgUp, PgDn", "previous, next episode or page"},
    {0, FOV_ACTION_NONE, "Home, End", "first, last glimpse; Shift: episode"},
    {'+', FOV_ACTION_FASTER, "+, -", "speed, 0.25 to 16 times"},
    {'=', FOV_ACTION_FASTER, NULL, NULL}, // a + without Shift on many keyboards
    {'-', FOV_ACTION_SLOWER, NULL, NULL},
    {'g', FOV_ACTION_ASK, "G", "go to an episode by its number"},
    {'f', FOV_ACTION_FILTER, "F", "all, wrong, right, disagreement"},
    {'c', FOV_ACTION_CLASS, "C, Shift C", "all classes; one after the other"},
    {'C', FOV_ACTION_CLASS_BACK, NULL, NULL},
    {'o', FOV_ACTION_ORDER, "O, Shift O", "sort: entropy, margin ...; reverse"},
    {'O', FOV_ACTION_REVERSE, NULL, NULL},
    {'1', FOV_ACTION_OVERLAY_1, "1, 2, 3", "squares, path, policy"},
    {'2', FOV_ACTION_OVERLAY_1 + 1, NULL, NULL},
    {'3', FOV_ACTION_OVERLAY_1 + 2, NULL, NULL},
    {'4', FOV_ACTION_OVERLAY_1 + 3, "4, 5, 6", "numbers, veil, reconstruction"},
    {'5', FOV_ACTION_OVERLAY_1 + 4, NULL, NULL},
    {'6', FOV_ACTION_OVERLAY_1 + 5, NULL, NULL},
    {'7', FOV_ACTION_OVERLAY_7, "7, W", "explanation: map, Jacobian; next method"},
    {'w', FOV_ACTION_METHOD, NULL, NULL},
    {'r', FOV_ACTION_RERUN, "R", "run again with other settings"},
    {'x', FOV_ACTION_SWAP, "X", "exchange the two agents"},
    {'a', FOV_ACTION_HEAD, "A", "attention: mean of heads, head 1, 2 ..."},
    {0, FOV_ACTION_NONE, "Wheel, drag", "zoom at the pointer, move the image"},
    {'0', FOV_ACTION_UNZOOM, "0", "the whole image"},
    {'h', FOV_ACTION_HEAT, "H", "heat map; again: from the target"},
    {'m', FOV_ACTION_SHEET, "M", "contact sheet; click to open one"},
    {'k', FOV_ACTION_CONFUSION, "K", "confusion matrix; click to select"},
    {'[', FOV_ACTION_EARLIER, "[, ]", "earlier, later in the training"},
    {']', FOV_ACTION_LATER, NULL, NULL},
    {'l', FOV_ACTION_FOLLOW, "L", "follow a running training"},
    {'s', FOV_ACTION_SAVE, "S", "save what is shown as PNG"},
    {'e', FOV_ACTION_EXPORT, "E", "export the episode as GIF"},
    {'t', FOV_ACTION_THEME, "T", "dark, light"},
    {0, FOV_ACTION_NONE, "F5, F11", "full screen"},
    {'?', FOV_ACTION_HELP, "F1, ?", "these keys"},
    {'q', FOV_ACTION_QUIT, "Q, Esc", "quit; Esc first closes what is open"},
    {0, FOV_ACTION_NONE, NULL, NULL},
};

FovAction fov_key_action(char letter) {
  for (const FovKey *key = fov_keys; key->letter || key->label; key++)
    if (letter && key->letter == letter) return key->action;
  return FOV_ACTION_NONE;
}
