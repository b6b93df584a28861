// GTK 4 with libadwaita, and Xlib for what GTK no longer does: where a window is, and above which.
// Found by the paths in Package.swift: of gtk4's own flags SwiftPM refuses some, with a warning.
#include <adwaita.h>
#include <cairo-xlib.h>
#include <glib-unix.h>
#include <gdk/x11/gdkx.h>
#ifdef GDK_WINDOWING_WAYLAND
#include <gdk/wayland/gdkwayland.h>
#endif
#include <X11/Xlib.h>
#include <X11/Xatom.h>

// GTK 4.12 and 4.18 deprecate these, and have nothing else that 4.8 has, too.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline Display *cgtk_x_display(GdkDisplay *display) { return gdk_x11_display_get_xdisplay(display); }
static inline GType cgtk_x_display_type(void) { return gdk_x11_display_get_type(); }
static inline XID cgtk_x_window(GdkSurface *surface) { return gdk_x11_surface_get_xid(surface); }
static inline void cgtk_x_trap(GdkDisplay *display) { gdk_x11_display_error_trap_push(display); }
static inline void cgtk_x_untrap(GdkDisplay *display) { gdk_x11_display_error_trap_pop_ignored(display); }
static inline void cgtk_css_load(GtkCssProvider *provider, const char *css)
{
    gtk_css_provider_load_from_data(provider, css, -1);
}
static inline gboolean cgtk_translate(GtkWidget *from, GtkWidget *to, double *x, double *y)
{
    return gtk_widget_translate_coordinates(from, to, *x, *y, x, y);
}
static inline GtkWidget *cgtk_question(GtkWindow *parent, const char *heading, const char *body, GtkWidget *extra)
{
    GtkWidget *dialog = adw_message_dialog_new(parent, heading, body);
    gtk_window_set_modal(GTK_WINDOW(dialog), TRUE);
    if (extra) adw_message_dialog_set_extra_child(ADW_MESSAGE_DIALOG(dialog), extra);
    return dialog;
}
static inline void cgtk_question_add(GtkWidget *dialog, const char *id, const char *words, AdwResponseAppearance appearance)
{
    AdwMessageDialog *message = ADW_MESSAGE_DIALOG(dialog);
    adw_message_dialog_add_response(message, id, words);
    adw_message_dialog_set_response_appearance(message, id, appearance);
    if (appearance == ADW_RESPONSE_SUGGESTED) adw_message_dialog_set_default_response(message, id);
}
// What takes any number of arguments cannot be called from Swift.
static inline void cgtk_about(GtkWindow *parent, const char *version)
{
    adw_show_about_window(parent, "application-name", "DualCam", "application-icon", "org.dualcam.View",
        "developer-name", "The DualCam authors", "version", version, "copyright", "© 2026 The DualCam authors",
        "license-type", GTK_LICENSE_MIT_X11, "comments", "Two cameras in one picture.", NULL);
}
static inline GtkWidget *cgtk_preferences_window(void)
{
    return g_object_new(ADW_TYPE_PREFERENCES_WINDOW, "search-enabled", FALSE, "modal", FALSE, NULL);
}
static inline void cgtk_preferences_add(GtkWidget *window, GtkWidget *page)
{
    adw_preferences_window_add(ADW_PREFERENCES_WINDOW(window), ADW_PREFERENCES_PAGE(page));
}
static inline GtkNativeDialog *cgtk_chooser(GtkWindow *parent, const char *title, GtkFileChooserAction action)
{
    GtkFileChooserNative *chooser = gtk_file_chooser_native_new(title, parent, action, NULL, NULL);
    if (action == GTK_FILE_CHOOSER_ACTION_OPEN) {
        GtkFileFilter *pictures = gtk_file_filter_new();
        gtk_file_filter_add_mime_type(pictures, "image/*");
        gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(chooser), pictures);
        g_object_unref(pictures);
    }
    return GTK_NATIVE_DIALOG(chooser);
}
static inline char *cgtk_chosen_path(GtkNativeDialog *dialog)
{
    GFile *file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    char *path = file ? g_file_get_path(file) : NULL;
    g_clear_object(&file);
    return path;
}
static inline void cgtk_set_parent(GdkSurface *surface, const char *handle)
{
    if (GDK_IS_X11_SURFACE(surface) && g_str_has_prefix(handle, "x11:")) {
        guint64 parent;
        if (g_ascii_string_to_unsigned(handle + 4, 16, 1, G_MAXUINT32, &parent, NULL))
            XSetTransientForHint(gdk_x11_display_get_xdisplay(gdk_surface_get_display(surface)),
                gdk_x11_surface_get_xid(surface), parent);
    }
#ifdef GDK_WINDOWING_WAYLAND
    if (GDK_IS_WAYLAND_TOPLEVEL(surface) && g_str_has_prefix(handle, "wayland:"))
        gdk_wayland_toplevel_set_transient_for_exported(GDK_TOPLEVEL(surface), handle + 8);
#endif
}
#pragma GCC diagnostic pop
