import Control

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
                  await new Promise(done => setTimeout(done, 250));
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
              for (; last - begin < seconds * 1000; frames++) last = await nextFrame();
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

/// The report of the page.
package struct TrialReport: Equatable {
    /// The browser's name and major version: "Chromium 156"; empty if it says neither.
    let browser: String
    package let cameras: [String]
    /// The frames that it got; `nil` if it got none.
    package let frames: Int?
    /// The time in which it got them.
    package let seconds: Double
    let width, height: Int
    /// The kind of error, such as "NotFoundError", and its reason; `nil` if there was none.
    let error, reason: String?

    /// Reads the body of a report. What it does not know is left out: any program of this machine
    /// that guesses the address could write it.
    init(_ body: [UInt8]) {
        let lines = String(decoding: body, as: UTF8.self).split(separator: "\n").prefix(100)
        let pairs = lines.map { line in
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            return (words[0], words.count == 2 ? String(words[1].prefix(200)).printable : "")
        }
        func value(_ name: String) -> String? { pairs.last { $0.0 == name }?.1 }
        func number(_ name: String, upTo limit: Int) -> Int? {
            value(name).flatMap { Int($0) }.flatMap { (0...limit).contains($0) ? $0 : nil }
        }
        browser = Self.browser(value("agent") ?? "")
        cameras = pairs.filter { $0.0 == "camera" }.map(\.1)
        frames = number("frames", upTo: 1_000_000)
        seconds = Double(number("milliseconds", upTo: 10_000_000) ?? 0) / 1000
        width = number("width", upTo: 100_000) ?? 0
        height = number("height", upTo: 100_000) ?? 0
        error = value("error")
        reason = value("reason")
    }

    /// Returns "Firefox 153" from what a browser calls itself. Chromium's kin all call themselves
    /// Chrome; Edge and Vivaldi add their own names.
    private static func browser(_ agent: String) -> String {
        for (word, name) in [
            ("Edg/", "Edge"), ("Vivaldi/", "Vivaldi"), ("Firefox/", "Firefox"),
            ("Chrome/", "Chromium"),
        ] {
            guard let start = agent.firstRange(of: word)?.upperBound else { continue }
            let version = agent[start...].prefix { $0.isNumber }
            return version.isEmpty ? name : "\(name) \(version)"
        }
        return ""
    }
}
