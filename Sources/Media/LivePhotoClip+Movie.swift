import Frames
import Glibc
import Imaging
import Platform

extension LivePhotoClip {
    /// The content of a movie and its rotation.
    package struct Plan: Sendable {
        /// The name of the picture, such as "back".
        package var picture: String
        /// The rotation for display, in degrees clockwise.
        package var rotation: Int
        /// The sound track, or `nil` without sound.
        package var sound: Track?

        /// Creates the plan for a movie of `picture`.
        package init(_ picture: String, rotation: Int = 0, sound: Track? = nil) {
            self.picture = picture
            self.rotation = rotation
            self.sound = sound
        }
    }

    /// Writes the finished clip to the new file `path`, with the access rights `mode`.
    ///
    /// The file appears whole or not at all. May wait for the disk.
    ///
    /// - Throws: `noSpace`, `denied`, `notFound` without the directory, `system` (with EEXIST if
    ///   `path` exists), `unreadable` without a picture, `unsupported` without libav.
    package func write(to path: String, mode: UInt32 = 0o600) throws(MediaError) {
        let (queue, marked) = content
        let pictures = queue.pictures.filter { packet in
            marked.map { packet.time + PreRollBuffer.span >= $0 } ?? false
        }
        guard let moment = marked, !pictures.isEmpty else {
            throw MediaError(.unreadable, "movie", path, detail: "no picture of it came")
        }
        // All pictures have one layout: another layout ends the clip.
        let size = try size(of: pictures[0], path)
        let sound = plan.sound == nil ? [] : queue.sound
        let first = pictures[0].time
        let last = pictures[pictures.count - 1].time
        let length = (last - first).seconds
        let rate = length > 0 ? Double(pictures.count - 1) / length : 0
        var tracks = [Track.jpeg(size: size, rate: rate, rotation: plan.rotation)]
        if !sound.isEmpty, let track = plan.sound { tracks.append(track) }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        let passing = "\(folder).\(path.dropFirst(folder.count)).part"
        let writer = try MatroskaWriter(
            creating: passing,
            tracks: tracks,
            start: first,
            tags: [
                "title": "DualCam, \(plan.picture)",
                "creation_time": WallTime(first).utc,
                // For tools that look for the photograph among the pictures.
                "DUALCAM_MOMENT": "\(max(0, (moment - first).nanoseconds / 1_000_000)) ms",
            ],
            mode: mode
        )
        do throws(MediaError) {
            let end = last + Timestamp(seconds: rate > 0 ? min(1, 1 / rate) : 0.04)
            var audible = sound.drop { $0.time < first }.prefix { $0.time < end }[...]
            for (index, picture) in pictures.enumerated() {
                while let packet = audible.first, packet.time < picture.time {
                    try writer.write(packet, track: 1)
                    audible.removeFirst()
                }
                var picture = picture
                let next = index + 1 < pictures.count ? pictures[index + 1].time : end
                picture.duration = next - picture.time
                try writer.write(picture, track: 0)
            }
            for packet in audible { try writer.write(packet, track: 1) }
            try writer.finish()
            do throws(SystemError) {
                try renameToNew(passing, path)
            } catch {
                throw MediaError(error)
            }
        } catch {
            unlink(passing)
            throw error
        }
    }

    private func size(of picture: Packet, _ path: String) throws(MediaError) -> Size {
        let header = picture.withBytes { try? JPEGDecoder().header(of: $0) }
        guard let header else { throw MediaError(.unreadable, "movie", path) }
        return header.size
    }
}
