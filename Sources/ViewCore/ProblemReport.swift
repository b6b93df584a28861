extension String {
    /// Returns a report of a problem without each of `names`, and without what identifies a device
    /// or leads to a home.
    package func impersonal(without names: [String]) -> String {
        var text = self
        for name in names.filter({ $0.count > 1 }).sorted(by: { $0.count > $1.count }) {
            text.replace(name, with: name.hasPrefix("/") ? "~" : "…")
        }
        // Serial numbers are in the names of devices.
        text.replace(/(?:v4l2:|usb-)\S+/, with: "…")
        text.replace(/(?:https?|rtsps?|srt):\/\/\S+/, with: "…")
        text.replace(/\/(?:home|run\/user)\/[^\s\/]+/, with: "~")
        return text
    }
}
