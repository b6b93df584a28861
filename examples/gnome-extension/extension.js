// A quick toggle for GNOME Shell 45 and later: on while the cameras may be open, with swap, the
// layouts and the saved scenes in its menu. Copy this folder to
// ~/.local/share/gnome-shell/extensions/dualcam@dualcam.org, log in again, and enable it.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import {PopupMenuSection, PopupSeparatorMenuItem} from 'resource:///org/gnome/shell/ui/popupMenu.js';
import {QuickMenuToggle, SystemIndicator} from 'resource:///org/gnome/shell/ui/quickSettings.js';

const NAME = 'org.dualcam.DualCam1', PATH = '/org/dualcam/DualCam1';
const LAYOUTS = {
    'pip': 'Picture in Picture', 'side-by-side': 'Side by Side', 'stacked': 'Stacked',
    'single': 'One Picture',
};

const Toggle = GObject.registerClass(class Toggle extends QuickMenuToggle {
    _init() {
        super._init({title: 'DualCam', iconName: 'camera-web-symbolic', toggleMode: false});
        this.menu.setHeader('camera-web-symbolic', 'DualCam');
        this._proxies = {};
        for (const part of ['Stream', 'Scene', 'Scenes', 'Privacy']) {
            Gio.DBusProxy.new_for_bus(
                Gio.BusType.SESSION, Gio.DBusProxyFlags.DO_NOT_AUTO_START, null,
                NAME, PATH, `${NAME}.${part}`, null, (_, result) => {
                    const proxy = Gio.DBusProxy.new_for_bus_finish(result);
                    this._proxies[part] = proxy;
                    proxy.connectObject('g-properties-changed', () => this._follow(),
                        'notify::g-name-owner', () => this._follow(), this);
                    this._follow();
                });
        }
        this._swap = this.menu.addAction('Swap', () => this._call('Scene', 'Swap', '(a{sv})', [{}]));
        this.menu.addMenuItem(new PopupSeparatorMenuItem());
        for (const [layout, words] of Object.entries(LAYOUTS))
            this.menu.addAction(words, () => this._set('Scene', 'Layout', 's', layout));
        this._scenes = new PopupMenuSection();
        this.menu.addMenuItem(this._scenes);
        this.connect('clicked', () => this._set('Privacy', 'Enabled', 'b', this.checked));
    }

    _value(part, property) {
        return this._proxies[part]?.get_cached_property(property)?.recursiveUnpack();
    }

    _call(part, member, type, values) {
        this._proxies[part]?.call(member, new GLib.Variant(type, values),
            Gio.DBusCallFlags.NONE, -1, null, null);
    }

    _set(part, property, type, value) {
        this._call(part, 'org.freedesktop.DBus.Properties.Set', '(ssv)',
            [`${NAME}.${part}`, property, new GLib.Variant(type, value)]);
    }

    _follow() {
        this.visible = !!this._proxies.Stream?.g_name_owner;
        this.checked = this._value('Privacy', 'Enabled') === false;
        const viewers = (this._value('Stream', 'Viewers') ?? []).map(viewer => viewer.name);
        this.subtitle = !this.checked ? 'Privacy' : viewers.length ? viewers.join(', ') : null;
        const names = this._value('Scenes', 'Names') ?? [];
        if (`${names}` === this._shown)
            return;
        this._shown = `${names}`;
        this._scenes.removeAll();
        for (const name of names)
            this._scenes.addAction(name, () => this._call('Scenes', 'Apply', '(sa{sv})', [name, {}]));
    }

    destroy() {
        for (const proxy of Object.values(this._proxies))
            proxy.disconnectObject(this);
        super.destroy();
    }
});

export default class DualCamExtension extends Extension {
    enable() {
        this._indicator = new SystemIndicator();
        this._indicator.quickSettingsItems.push(new Toggle());
        Main.panel.statusArea.quickSettings.addExternalIndicator(this._indicator);
    }

    disable() {
        this._indicator.quickSettingsItems.forEach(item => item.destroy());
        this._indicator.destroy();
        this._indicator = null;
    }
}
