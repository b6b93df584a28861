import Frames

/// Programs that can do the work of DualCam, with command lines as people write them, and with the
/// cheapest ones found.
///
/// They may leave JPEG's full range as it is, which is less work than DualCam's: its stream is in
/// limited range, as consumers expect of a camera.
enum Peer: String, CaseIterable {
    case gstreamer
    case ffmpeg

    enum Task: Equatable {
        /// Reads both cameras' clips and discards them.
        case read
        /// Composes and discards the output, with the plain command line.
        case compose
        /// The same, with the cheapest command line.
        case composeCheaply
        case picture(String)
    }

    /// Returns the program and its arguments for `task` on `count` frames of two cameras.
    func command(
        _ input: Input,
        _ clips: Clips,
        _ task: Task,
        frames count: Int
    ) -> (
        program: String, arguments: [String]
    ) {
        switch self {
        case .gstreamer:
            ("gst-launch-1.0", ["-q"] + words(gstreamer(input, clips, task, count)))
        case .ffmpeg:
            ("ffmpeg", ["-nostdin", "-v", "error", "-y"] + ffmpeg(input, clips, task, count))
        }
    }

    /// Returns GStreamer's arguments for the same as a node of PipeWire called "gstreamer", in real
    /// time. This is its cheapest form: `compositor` and `pipewiresink` do not agree on buffers
    /// without `videoconvert` between them.
    func live(_ input: Input, _ clips: Clips) -> [String] {
        let source = gstreamerSource(input, clips, frames: Clips.movieFrames)
        let camera =
            "\(source)\(input.isMotion ? " ! jpegdec" : "") ! queue max-size-buffers=3 ! mix."
        return words(
            "-q \(Self.gstreamerMix(input, cheaply: true)) ! pipewiresink mode=provide"
                + " stream-properties=p,media.class=Video/Source,node.name=gstreamer,media.role=Camera"
                + " \(camera) \(camera)"
        )
    }

    private func gstreamer(_ input: Input, _ clips: Clips, _ task: Task, _ count: Int) -> String {
        let source = gstreamerSource(input, clips, frames: count)
        // The clip is longer than this.
        let end = "identity eos-after=\(count)"
        if task == .read { return "\(source) ! \(end) ! fakesink \(source) ! \(end) ! fakesink" }
        let sink =
            if case .picture(let path) = task {
                "identity eos-after=2 ! filesink location=\(path)"
            } else { "\(end) ! fakesink" }
        let camera =
            "\(source)\(input.isMotion ? " ! jpegdec" : "") ! queue max-size-buffers=3 ! mix."
        return Self.gstreamerMix(input, cheaply: task != .compose) + " ! " + sink + " " + camera
            + " " + camera
    }

    /// Returns a pipeline that makes one stream, called "mix", of two pictures, up to the packed
    /// form, in the range that the cameras deliver.
    ///
    /// If cameras do not deliver the packed form, the cheapest way is to compose in their format
    /// and to pack the output: asked for the packed form, `compositor` packs each of its inputs.
    static func gstreamerMix(_ input: Input, cheaply: Bool) -> String {
        let inset = Side.inset
        return
            "compositor name=mix background=black sink_1::xpos=\(inset.x) sink_1::ypos=\(inset.y)"
            + " sink_1::width=\(inset.width) sink_1::height=\(inset.height) ! "
            + (cheaply && input.isMotion ? "videoconvert ! " : "")
            + "video/x-raw,format=YUY2" + (input.isMotion ? "" : ",colorimetry=bt601")
    }

    private func gstreamerSource(_ input: Input, _ clips: Clips, frames count: Int) -> String {
        switch input {
        case .motion(let motion):
            return "filesrc location=\(clips.movie(motion)) ! avidemux ! image/jpeg"
        case .raw:
            return "multifilesrc location=\(clips.rawPattern) start-index=0"
                + " stop-index=\(Clips.rawFrames - 1) loop=true num-buffers=\(count)"
                + " caps=video/x-raw,format=YUY2,width=\(Clips.size.width)"
                + ",height=\(Clips.size.height),framerate=\(Clips.rate)/1,colorimetry=bt601"
                + " ! rawvideoparse use-sink-caps=true"
        }
    }

    private func ffmpeg(_ input: Input, _ clips: Clips, _ task: Task, _ count: Int) -> [String] {
        var source: [String]
        switch input {
        case .motion(let motion): source = ["-threads", "1", "-i", clips.movie(motion)]
        case .raw:
            source =
                words(
                    "-stream_loop -1 -f rawvideo -framerate \(Clips.rate) -video_size \(Clips.size)"
                        + " -pixel_format yuyv422 -i"
                ) + [clips.raw]
        }
        source += source
        let output: [String]
        switch task {
        case .read:
            return source + words("-map 0:v -map 1:v -c copy -frames:v \(count) -f null -")
        case .compose, .composeCheaply: output = words("-frames:v \(count) -f null -")
        case .picture(let path): output = ["-frames:v", "1", "-f", "rawvideo", path]
        }
        let inset = Side.inset
        // Without an explicit range ffmpeg converts it, which should not cost it time here.
        let plain = "[1]scale=\(inset.width):\(inset.height)[i];[0][i]overlay=\(inset.x):\(inset.y)"
        let best =
            "[1]scale=\(inset.width):\(inset.height):flags=fast_bilinear[i];"
            + "[0][i]overlay=x=\(inset.x):y=\(inset.y):format=yuv422"
            + (input.isMotion ? ",scale=in_range=pc:out_range=pc:flags=fast_bilinear" : "")
            + ",format=yuyv422"
        return words("-filter_threads 1 -filter_complex_threads 1") + source
            + ["-filter_complex", task == .compose ? "\(plain),format=yuyv422" : best]
            + output
    }
}

/// The input of two cameras.
enum Input: Equatable {
    case motion(Clips.Motion)
    case raw

    var isMotion: Bool { if case .motion = self { true } else { false } }

    func path(_ clips: Clips) -> String {
        switch self {
        case .motion(let motion): clips.jpegs(motion)
        case .raw: clips.raw
        }
    }

    var name: String {
        switch self {
        case .motion(let motion): "\(motion.rawValue) MJPEG"
        case .raw: "raw YUYV"
        }
    }
}
