// A library loaded before all others, which turns a GTK program round, as a language does that is
// written from right to left. GTK takes the direction from its translations, which need not be
// installed.

#define _GNU_SOURCE
#include <dlfcn.h>

void *adw_application_window_new(void *application);

void *adw_application_window_new(void *application)
{
    void (*set)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "gtk_widget_set_default_direction");
    void *(*next)(void *) = (void *(*)(void *))dlsym(RTLD_NEXT, "adw_application_window_new");
    set(2); // GTK_TEXT_DIR_RTL
    return next(application);
}
