/// The findings of `dualcamctl doctor --json`.
package struct DoctorReport: Hashable, Sendable {
    /// One thing that was looked at.
    package struct Check: Hashable, Sendable {
        /// The name, which `doctor --fix` takes.
        package var name: String
        /// `true` if it is well, `false` if not; `nil` if nobody knows.
        package var isWell: Bool?
        /// The finding in words.
        package var text: String
        /// The command that mends it; `nil` if there is none.
        package var command: String?

        /// `true` if `doctor --fix` can mend it by this name.
        package var isFixable = false
    }

    /// All that was looked at, in its order.
    package var checks: [Check]

    /// Reads the document that doctor wrote; `nil` if it is something else.
    package init?(json: String) {
        var reader = JSONReader(Array(json.utf8))
        guard let document = reader.document(), case .object(let members) = document,
            case .array(let all)? = members["checks"]
        else { return nil }
        checks = all.compactMap { element in
            guard case .object(let fields) = element, case .string(let name)? = fields["name"],
                case .string(let text)? = fields["text"]
            else { return nil }
            var check = Check(name: name, text: text)
            if case .boolean(let isWell)? = fields["ok"] { check.isWell = isWell }
            if case .boolean(let isFixable)? = fields["fix"] { check.isFixable = isFixable }
            if case .string(let command)? = fields["command"] { check.command = command }
            return check
        }
    }
}
