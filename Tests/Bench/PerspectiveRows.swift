import Compositing
import DualCamCore
import Frames
import Glibc

/// The cost of showing four corners of one raw camera as the whole picture: DualCam's drawing on
/// one thread, and whole processes of its peers without the reading.
struct PerspectiveRows {
    let clips: Clips
    let pairs: Int
    private let frames = 60

    /// The corners, as fractions, clockwise from the top left.
    private static let corners = [(0.21, 0.15), (0.78, 0.12), (0.93, 0.88), (0.07, 0.91)]

    /// Returns the time of a frame on each side, and how DualCam compares.
    ///
    /// ffmpeg mixes four pixels, as DualCam does. gst-launch cannot set the matrix of GStreamer's
    /// `perspective`, so it maps each pixel to itself: it looks places up in a table that it makes
    /// once, so other places cost the same. It takes the nearest pixel, and only packed colours.
    func rows() throws -> [Row] {
        let rate = "-framerate \(Clips.rate) -video_size \(Clips.size) -pixel_format yuyv422"
        let input = words("-nostdin -v error -stream_loop -1 -f rawvideo \(rate) -i")
        let (width, height) = (Double(Clips.size.width), Double(Clips.size.height))
        // In ffmpeg's order: top left, top right, bottom left, bottom right.
        let places = [0, 1, 3, 2].enumerated().map { number, corner in
            let (x, y) = Self.corners[corner]
            return "x\(number)=\(Int(x * width)):y\(number)=\(Int(y * height))"
        }.joined(separator: ":")
        func ffmpeg(_ filter: [String]) throws -> Double {
            let output = words("-frames:v \(frames) -f null -")
            return try Usage.of(
                "ffmpeg",
                words("-filter_threads 1") + input + [clips.raw] + filter + output
            ).processor
        }
        let source =
            "-q multifilesrc location=\(clips.rawPattern) start-index=0"
            + " stop-index=\(Clips.rawFrames - 1) loop=true num-buffers=\(frames)"
            + " caps=video/x-raw,format=YUY2,width=\(Clips.size.width)"
            + ",height=\(Clips.size.height),framerate=\(Clips.rate)/1"
            + " ! rawvideoparse use-sink-caps=true"
        func gstreamer(_ filter: String) throws -> Double {
            try Usage.of("gst-launch-1.0", words("\(source)\(filter) ! fakesink")).processor
        }
        let straight =
            "format=yuv422p,perspective=\(places):interpolation=linear:sense=source,format=yuyv422"
        let turned = " ! videoconvert ! perspective ! videoconvert ! video/x-raw,format=YUY2"
        let reading = (ffmpeg: try ffmpeg(["-c", "copy"]), gstreamer: try gstreamer(""))
        let drawing = try drawing(Clips.size, isStraightened: true)
        _ = drawing()
        var (own, theirs, others): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<max(3, pairs) {
            own.append(drawing())
            theirs.append((try ffmpeg(["-vf", straight]) - reading.ffmpeg) * 1000 / Double(frames))
            others.append((try gstreamer(turned) - reading.gstreamer) * 1000 / Double(frames))
        }
        return [
            Row("perspective, raw YUYV: DualCam", "ms", own),
            Row("perspective, raw YUYV: ffmpeg", "ms", theirs),
            Row("perspective, raw YUYV: gstreamer", "ms", others),
            Row("perspective, raw YUYV: DualCam ÷ ffmpeg", target: 1, own, over: theirs),
            Row("perspective, raw YUYV: DualCam ÷ gstreamer", target: 1, own, over: others),
        ]
    }

    /// Returns what four corners cost more than the whole picture of a raw camera, at 720p.
    func extra() throws -> [Row] {
        let size = Size(width: 1280, height: 720)
        let drawings = (
            plain: try drawing(size, isStraightened: false),
            straight: try drawing(size, isStraightened: true)
        )
        // A first round makes all one-time allocations.
        _ = (drawings.plain(), drawings.straight())
        var (plain, straight): ([Double], [Double]) = ([], [])
        for _ in 0..<max(5, pairs) {
            plain.append(drawings.plain())
            straight.append(drawings.straight())
        }
        return [
            Row("perspective at 720p, raw YUYV: without", "ms", plain),
            Row(
                "perspective at 720p, raw YUYV: extra",
                "ms",
                target: 1.5,
                zip(straight, plain).map { $0 - $1 }
            ),
        ]
    }

    /// Returns the function that draws frames of this size, and returns the processor time of this
    /// thread that one takes, in milliseconds.
    private func drawing(_ size: Size, isStraightened: Bool) throws -> () -> Double {
        var layer = Layer(role: .back, rect: Rect(size))
        layer.fill = 1
        if isStraightened {
            layer.source.perspective = try Perspective(
                Self.corners.map { NormalizedPoint(x: $0.0, y: $0.1) }
            )
        }
        var scene = Scene()
        scene.append(layer)
        let (drawn, pictures) = (scene, try clips.pictures(size))
        let (compositor, output) = (Compositor(canvas: size), Output(size))
        return {
            threadTime(of: frames) { index in
                compositor.composite(
                    drawn,
                    back: pictures[index % pictures.count],
                    front: nil,
                    labels: PerRole(back: nil, front: nil),
                    into: output.next(),
                    stride: 2 * size.width
                )
            }
        }
    }
}
