// test-window drop: a window at the top left that prints the URIs of the files that are dropped on
// it, a line each.
// test-window cover: a green window over all others and the whole screen, out of the window
// manager's hands.
// test-window large: a green window as large as the screen, under the window manager.
#include <X11/Xlib.h>
#include <gtk/gtk.h>
#include <stdio.h>
#include <string.h>

static gboolean dropped(GtkDropTarget *target, const GValue *value, double x, double y, gpointer data) {
    GSList *files = g_value_get_boxed(value);
    if (!files) puts("nothing");
    for (; files; files = files->next) {
        char *uri = g_file_get_uri(files->data);
        puts(uri);
        g_free(uri);
    }
    fflush(stdout);
    return TRUE;
}

static void receive(void) {
    gtk_init();
    GtkWidget *window = gtk_window_new();
    gtk_window_set_title(GTK_WINDOW(window), "Target");
    gtk_window_set_default_size(GTK_WINDOW(window), 400, 300);
    GtkDropTarget *target = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
    g_signal_connect(target, "drop", G_CALLBACK(dropped), NULL);
    gtk_widget_add_controller(window, GTK_EVENT_CONTROLLER(target));
    gtk_window_present(GTK_WINDOW(window));
    for (;;) g_main_context_iteration(NULL, TRUE);
}

static int cover(int is_managed) {
    Display *display = XOpenDisplay(NULL);
    if (!display) return 1;
    int screen = DefaultScreen(display);
    XSetWindowAttributes attributes = {.override_redirect = !is_managed, .background_pixel = 0x00ff00};
    Window window = XCreateWindow(
        display, RootWindow(display, screen), 0, 0, DisplayWidth(display, screen),
        DisplayHeight(display, screen), 0, CopyFromParent, InputOutput, CopyFromParent,
        CWOverrideRedirect | CWBackPixel, &attributes
    );
    XSelectInput(display, window, StructureNotifyMask);
    XStoreName(display, window, "Large");
    XMapRaised(display, window);
    XFlush(display);
    for (;;) {
        XEvent event;
        XNextEvent(display, &event);
        if (event.type == MapNotify) puts("shown"), fflush(stdout);
    }
}

int main(int count, char **words) {
    if (count < 2) return 2;
    if (strcmp(words[1], "drop") == 0) receive();
    return cover(strcmp(words[1], "large") == 0);
}
