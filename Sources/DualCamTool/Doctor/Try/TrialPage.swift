/// The page that a browser shows in a trial. It opens the camera as any page does, and reports what
/// it gets: lines of a name, a space and a value.
enum TrialPage {
    /// Returns the page, which looks for the camera `camera` and counts frames for `seconds`.
    static func html(camera: String, seconds: Int) -> String {
        // "<" would end the script.
        let name = JSON.string(camera).text.replacing("<", with: "\\u003c")
        return """
            <!DOCTYPE html>
            <meta charset="utf-8">
            <title>DualCam</title>
            <video id="video" muted playsinline></video>
            <script>
            'use strict';
            const wanted = \(name), seconds = \(seconds);
            const video = document.getElementById('video');
            const report = async entries => {
              const line = ([name, value]) => name + ' ' + String(value).replace(/[\\r\\n]+/g, ' ');
              const body = [['agent', navigator.userAgent], ...entries].map(line).join('\\n');
              await fetch('report', { method: 'POST', body });
            };
            const pause = time => new Promise(done => setTimeout(done, time));
            const nextFrame = () => new Promise((done, failed) => {
              setTimeout(() => failed(new Error('no frame came within 10 s')), 10000);
              video.requestVideoFrameCallback(now => done(now));
            });
            // A portal's client is shown its cameras a moment after it has asked.
            const open = async video => {
              for (let tries = 1; ; tries++) {
                try {
                  return await navigator.mediaDevices.getUserMedia({ video });
                } catch (error) {
                  if (error.name !== 'NotFoundError' || tries === 20) throw error;
                  await pause(250);
                }
              }
            };
            let cameras = [];
            const entries = () => cameras.map(camera => ['camera', camera.label]);
            (async () => {
              let stream = await open(true);
              const devices = await navigator.mediaDevices.enumerateDevices();
              cameras = devices.filter(device => device.kind === 'videoinput');
              const camera = cameras.find(camera => camera.label === wanted);
              if (!camera) return report([...entries(), ['missing', wanted]]);
              if (stream.getVideoTracks()[0].label !== wanted) {
                stream.getTracks().forEach(track => track.stop());
                stream = await open({ deviceId: { exact: camera.deviceId } });
              }
              video.srcObject = stream;
              await video.play();
              const begin = await nextFrame();
              let frames = 0, last = begin;
              while (last - begin < seconds * 1000) {
                last = await nextFrame();
                frames += 1;
              }
              await report([
                ...entries(), ['frames', frames], ['milliseconds', Math.round(last - begin)],
                ['width', video.videoWidth], ['height', video.videoHeight],
              ]);
            })().catch(error => report([
              ...entries(), ['error', error.name], ['reason', error.message],
            ]));
            </script>

            """
    }
}

/// The page's report.
struct TrialReport: Equatable {
    /// The browser's name and major version: "Chromium 156"; empty if it says neither.
    var browser = ""
    /// The names of the cameras that it lists.
    var cameras: [String] = []
    /// The frames that it got, in this time in seconds, and their size; `nil` if it got none.
    var frames: Int?
    var seconds = 0.0
    var size = (0, 0)
    /// The kind of error, such as "NotFoundError", and its reason; `nil` if there was none.
    var error: (name: String, reason: String)?

    /// Reads the body of a report. What it does not know is left out: any program of this machine
    /// that guesses the address could write it.
    init(_ body: [UInt8]) {
        var (name, reason): (String?, String) = (nil, "")
        for line in String(decoding: body, as: UTF8.self).split(separator: "\n").prefix(100) {
            let words = line.split(
                separator: " ",
                maxSplits: 1,
                omittingEmptySubsequences: false
            ).map(String.init)
            let value = words.count == 2 ? String(words[1].prefix(200)).printable : ""
            func number(_ limit: Int) -> Int? {
                Int(value).flatMap { (0...limit).contains($0) ? $0 : nil }
            }
            switch words[0] {
            case "agent": browser = Self.browser(value)
            case "camera": cameras.append(value)
            case "frames": frames = number(1_000_000)
            case "milliseconds": seconds = Double(number(10_000_000) ?? 0) / 1000
            case "width": size.0 = number(100_000) ?? 0
            case "height": size.1 = number(100_000) ?? 0
            case "error": name = value
            case "reason": reason = value
            default: break
            }
        }
        error = name.map { ($0, reason) }
    }

    static func == (one: TrialReport, other: TrialReport) -> Bool {
        one.browser == other.browser && one.cameras == other.cameras && one.frames == other.frames
            && one.seconds == other.seconds && one.size == other.size
            && one.error?.name == other.error?.name && one.error?.reason == other.error?.reason
    }

    /// Returns "Firefox 153" from what a browser calls itself. Chromium's kin all call themselves
    /// Chrome; Edge and Vivaldi add their own names.
    private static func browser(_ agent: String) -> String {
        for (word, name) in [
            ("Edg/", "Edge"), ("Vivaldi/", "Vivaldi"), ("Firefox/", "Firefox"),
            ("HeadlessChrome/", "Chromium"), ("Chrome/", "Chromium"),
        ] {
            guard let start = agent.firstRange(of: word)?.upperBound else { continue }
            let version = agent[start...].prefix { $0.isNumber }
            return version.isEmpty ? name : "\(name) \(version)"
        }
        return ""
    }
}
