/** drop WINDOW FILE: drops a file on a window as a file manager does, by the protocol of X (XDND,
 * version 5). Exit status 0 if the window has taken it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <X11/Xatom.h>
#include <X11/Xlib.h>

static Display *display;
static Window source, target;

static Atom atom(const char *name) {
  return XInternAtom(display, name, False);
}

/** Sends a message of the protocol: its source and up to four numbers. */
static void tell(const char *name, long a, long b, long c, long d) {
  XClientMessageEvent message = {.type = ClientMessage,
                                 .display = display,
                                 .window = target,
                                 .message_type = atom(name),
                                 .format = 32,
                                 .data.l = {(long)source, a, b, c, d}};
  XSendEvent(display, target, False, NoEventMask, (XEvent *)&message);
}

/** Gives the window the file's address that it asks for. */
static void answer(const XSelectionRequestEvent *asked, const char *address) {
  XSelectionEvent reply = {.type = SelectionNotify,
                           .display = display,
                           .requestor = asked->requestor,
                           .selection = asked->selection,
                           .target = asked->target,
                           .property = asked->property,
                           .time = asked->time};
  XChangeProperty(display, asked->requestor, asked->property, asked->target, 8, PropModeReplace,
                  (const unsigned char *)address, (int)strlen(address));
  XSendEvent(display, asked->requestor, False, NoEventMask, (XEvent *)&reply);
}

int main(int argc, char **argv) {
  char address[PATH_MAX + 16], path[PATH_MAX];
  if (argc != 3 || !realpath(argv[2], path) || !(display = XOpenDisplay(NULL))) {
    fprintf(stderr, "usage: drop WINDOW FILE, with a display\n");
    return 2;
  }
  snprintf(address, sizeof address, "file://%s\r\n", path);
  target = (Window)strtoul(argv[1], NULL, 0);
  source = XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 1, 1, 0, 0, 0);
  XSetSelectionOwner(display, atom("XdndSelection"), source, CurrentTime);
  tell("XdndEnter", 5L << 24, (long)atom("text/uri-list"), None, None);
  tell("XdndPosition", 0, 10 << 16 | 10, CurrentTime, (long)atom("XdndActionCopy"));
  tell("XdndDrop", 0, CurrentTime, 0, 0);
  alarm(20); // which ends it
  for (XEvent event;;) {
    XNextEvent(display, &event);
    if (event.type == SelectionRequest) answer(&event.xselectionrequest, address);
    if (event.type == ClientMessage && event.xclient.message_type == atom("XdndFinished"))
      return event.xclient.data.l[1] & 1 ? 0 : 1;
  }
}
