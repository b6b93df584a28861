/// The page that a phone's browser shows: it sends the pictures of the phone's camera. Fixed bytes
/// without a secret; what it may know comes once it has proved its key.
enum PhonePage {
    static let html = #"""
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
        <meta name="theme-color" content="#000000">
        <meta name="mobile-web-app-capable" content="yes">
        <title>DualCam</title>
        <link rel="stylesheet" href="/style.css">
        <script src="/app.js" defer></script>
        <body data-state="opening">
        <video id="video" autoplay muted playsinline></video>
        <div id="picture" aria-hidden="true">
          <svg id="phone" viewBox="0 0 240 96" fill="none" stroke="currentColor" stroke-width="4"
               stroke-linecap="round" stroke-linejoin="round">
            <rect x="8" y="8" width="46" height="80" rx="8"/><circle cx="31" cy="28" r="8"/>
            <path class="way" d="M72 48h56m-14-14 14 14-14 14"/>
            <rect x="146" y="14" width="86" height="56" rx="5"/><path d="M168 86h42"/>
            <path class="cross" d="m88 34 28 28m0-28-28 28"/>
          </svg>
        </div>
        <main>
          <p id="status" role="status"><i id="dot"></i><span id="words"></span></p>
          <p id="hint"></p>
          <button id="again" hidden></button>
        </main>
        <nav>
          <button id="light" hidden><svg viewBox="0 0 24 24"><path d="M13 2 5 14h6l-1 8 8-12h-6z"/></svg>
            <span></span></button>
          <button id="end" hidden><svg viewBox="0 0 24 24"><path d="M6 6h12v12H6z"/></svg><span></span>
            </button>
          <button id="turn" hidden><svg viewBox="0 0 24 24"><path d="M4 12a8 8 0 0 1 14-5l2 2V3h-2v2a10
            10 0 0 0-16 7zm16 0a8 8 0 0 1-14 5l-2-2v6h2v-2a10 10 0 0 0 16-7z"/></svg><span></span>
            </button>
        </nav>
        """#

    static let style = #"""
        * { box-sizing: border-box; margin: 0 }
        [hidden] { display: none !important }
        html, body { height: 100%; background: #000; color: #fff; overflow: hidden }
        body { font: 17px/1.4 system-ui, sans-serif; display: flex; flex-direction: column;
          -webkit-user-select: none; user-select: none }
        video { position: fixed; inset: 0; width: 100%; height: 100%; object-fit: contain;
          visibility: hidden }
        [data-state=live] video { visibility: visible }
        #picture { position: fixed; inset: 0 0 96px; display: grid; place-items: center; color: #9ab }
        #picture svg { width: min(60vw, 60vh) }
        .cross { stroke: #ff6b6b; visibility: hidden }
        [data-bad] .cross { visibility: visible }
        [data-bad] .way, [data-state=live] #picture { visibility: hidden }
        main { position: relative; padding: calc(16px + env(safe-area-inset-top)) 20px 16px;
          background: linear-gradient(#000d, #0007 70%, #0000); text-align: center;
          text-shadow: 0 1px 3px #000 }
        #status { font-weight: 600 }
        #hint { color: #d5dde6 }
        #dot { display: inline-block; width: 12px; height: 12px; border-radius: 6px; margin-right: 9px;
          background: #889 }
        [data-state=live] #dot { background: #3ddc84; box-shadow: 0 0 10px #3ddc84 }
        [data-bad] #dot { background: #ff6b6b }
        nav { position: fixed; inset: auto 0 0; display: flex; justify-content: center; gap: 20px;
          padding: 12px 16px calc(18px + env(safe-area-inset-bottom)) }
        button { font: inherit; color: #fff; background: #1c232bdd; border: 0; border-radius: 18px;
          padding: 10px 16px; min-width: 84px; min-height: 64px }
        nav span { display: block; font-size: 13px; margin-top: 2px }
        nav svg { width: 26px; height: 26px; fill: currentColor }
        #end { background: #d3302f; min-width: 132px }
        #again { margin-top: 14px; background: #2f74d0; min-height: 52px }
        #light[aria-pressed=true] { background: #f5c542; color: #000 }
        """#

    static let script = #"""
        "use strict";
        const words = { en: {
          opening: ["Connecting to this computer…", ""],
          asking: ["Allow the camera", "The picture goes to NAME only, over your network."],
          live: ["Connected to NAME", "Keep this page open and the phone plugged in."],
          turn: "Turn the phone sideways to fill the picture.",
          slow: "The Wi-Fi is slow: smaller pictures for now.",
          ready: ["Ready", "The camera is off until NAME needs it."],
          hidden: ["", ""],
          refused: ["The browser may not use the camera", "Allow it in the settings of this page.",
            "Try Again"],
          busy: ["Another app uses the camera", "Close it, and try again.", "Try Again"],
          stopped: ["Stopped", "NAME gets no picture.", "Start"],
          away: ["NAME does not answer", "Is it awake, and in the same Wi-Fi? Trying again…"],
          replaced: ["Another page took over", "", "Use This One"],
          old: ["This code is no longer valid", "Scan the new one."],
          camera: "Other Camera", light: "Light", end: "Stop",
        } };
        const text = words[navigator.language.slice(0, 2)] ?? words.en;
        const byID = (id) => document.getElementById(id);
        const video = byID("video"), canvas = document.createElement("canvas");
        const pen = canvas.getContext("2d", { alpha: false });
        const page = [...crypto.getRandomValues(new Uint8Array(16))]
          .map((byte) => byte.toString(16).padStart(2, "0")).join("");
        // Not "key": that is a method of localStorage.
        const item = "dualcam";
        let secret = localStorage.getItem(item);
        let state = "opening", name = "the computer", wanted = { number: 0 }, track = null, lock = null;
        let isOpening = false, isStopped = false, isOver = false, isAway = false, lastSeen = Date.now();

        // MARK: What is sent

        const steps = [[1, 0.8], [1, 0.65], [1, 0.5], [0.75, 0.6], [0.75, 0.45], [0.5, 0.5]];
        let step = 0, sent = 0, skipped = 0, calm = 0, needed = 10, flying = 0, count = 0, last = 0;

        async function ask(path, body, seconds) {
          const abort = new AbortController();
          const timer = setTimeout(() => abort.abort(), seconds * 1000);
          try {
            const answer = await fetch(path, {
              method: body === undefined ? "GET" : "POST", body, signal: abort.signal,
              cache: "no-store", credentials: "omit", redirect: "error",
              headers: secret ? { "X-DualCam-Key": secret, "X-DualCam-Page": page } : {},
            });
            // After these nothing else is right: asking again would be guessing.
            if (answer.status === 401) finish("old");
            if (answer.status === 409) finish("replaced");
            if (!answer.ok) throw new Error(answer.status);
            const found = await answer.text();
            lastSeen = Date.now();
            return found;
          } finally { clearTimeout(timer); }
        }

        function finish(why) {
          if (isOver) return;
          isOver = true;
          close();
          show(why);
        }

        async function send() {
          const now = performance.now();
          if (isOver || isAway || document.hidden || !track || !wanted.run || !video.videoWidth) return;
          if (now - last < 750 / (wanted.rate || 30)) return;
          if (flying >= 2) { skipped++; return; }
          flying++; sent++; last = now;
          try {
            const [scale, quality] = steps[step];
            const size = Math.max(wanted.width || 1280, wanted.height || 720);
            const most = Math.max(video.videoWidth, video.videoHeight);
            const factor = Math.min(1, size / most) * scale;
            const width = Math.round(video.videoWidth * factor / 2) * 2;
            const height = Math.round(video.videoHeight * factor / 2) * 2;
            if (canvas.width !== width) canvas.width = width;
            if (canvas.height !== height) canvas.height = height;
            pen.drawImage(video, 0, 0, width, height);
            const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", quality));
            if (blob) await ask(`/picture?n=${++count}`, blob, 4);
          } catch { skipped++; } finally { flying--; }
        }

        // Follows the network: smaller pictures instead of late ones.
        setInterval(() => {
          const before = step;
          if (sent + skipped > 4 && skipped > 0.15 * (sent + skipped)) {
            if (step < steps.length - 1) step++;
            // A step up that was too much is not tried again so soon.
            needed = calm < 3 && calm > 0 ? Math.min(80, needed * 2) : needed;
            calm = 0;
          } else if (sent > 4 && ++calm >= needed && step > 0) { step--; calm = 1; }
          sent = skipped = 0;
          if ((before > 2) !== (step > 2)) tell();
          if (!isAway || !track || Date.now() - lastSeen < 10000) return;
          close();
        }, 1000);

        function pump() {
          if (video.requestVideoFrameCallback) {
            const next = () => { send(); video.requestVideoFrameCallback(next); };
            video.requestVideoFrameCallback(next);
          } else setInterval(send, 33);
        }

        // MARK: The camera

        const side = () => {
          const mode = track?.getSettings().facingMode;
          return mode === "user" ? "front" : mode === "environment" ? "back" : wanted.side;
        };

        async function open() {
          if (isOpening || isStopped || isOver) return;
          const wish = [wanted.side, wanted.width, wanted.height].join();
          if (track?.readyState === "live" && track.wish === wish) return;
          isOpening = true;
          try {
            close();
            show("asking");
            tell();
            const stream = await navigator.mediaDevices.getUserMedia({ video: {
              facingMode: { ideal: wanted.side === "front" ? "user" : "environment" },
              width: { ideal: wanted.width || 1280 }, height: { ideal: wanted.height || 720 },
              frameRate: { ideal: Math.max(30, wanted.rate || 0) }, zoom: true,
            } });
            track = stream.getVideoTracks()[0];
            track.wish = wish;
            track.onended = () => { close(); show("busy"); tell(); };
            track.onmute = track.onunmute = () => { report(); };
            video.srcObject = stream;
            await video.play().catch(() => {});
            report();
          } catch (error) {
            close();
            show(["NotAllowedError", "SecurityError"].includes(error.name) ? "refused" : "busy");
            tell();
          } finally { isOpening = false; }
          // Something else may have been wanted meanwhile.
          if (track && !wanted.run) close();
        }

        function close() {
          if (track) { track.onended = null; track.stop(); }
          track = video.srcObject = null;
        }

        async function adjust() {
          const can = track?.getCapabilities?.() ?? {};
          const now = track?.getSettings() ?? {};
          const change = {};
          if (can.zoom && wanted.zoom > 0 && wanted.zoom !== now.zoom) change.zoom = wanted.zoom;
          if (can.torch && wanted.light !== Boolean(now.torch)) change.torch = Boolean(wanted.light);
          if (Object.keys(change).length) await track.applyConstraints({ advanced: [change] });
        }

        async function awake() {
          if (!track || document.hidden || lock) return;
          lock = await navigator.wakeLock?.request("screen").catch(() => null);
          lock?.addEventListener("release", () => { lock = null; });
        }

        // MARK: What is said

        function tell() {
          if (!secret || isOver || isAway) return;
          const can = track?.getCapabilities?.() ?? {}, now = track?.getSettings() ?? {};
          const fields = { state, command: wanted.number, slow: step > 2 ? 1 : 0 };
          if (track) fields.side = side();
          if (can.zoom) {
            fields.zoom = [can.zoom.min, can.zoom.max, can.zoom.step || 0.1, now.zoom || 1].join();
          }
          if (can.torch) fields.light = now.torch ? 1 : 0;
          const body = Object.entries(fields).map(([key, value]) => `${key}=${value}`).join("&");
          ask("/state", body, 4).catch(() => {});
        }

        function report() {
          const isLive = track?.readyState === "live";
          if (isStopped) show("stopped");
          else if (document.hidden) show("hidden");
          else if (isLive) show(track.muted ? "busy" : "live");
          else if (!wanted.run) show("ready");
          tell();
          awake();
        }

        function show(next) {
          if (!isOver || ["old", "replaced"].includes(next)) state = next;
          const shown = isAway && !isOver ? "away" : state;
          const [title, hint, button] = (text[shown] ?? text.opening)
            .map((words) => words.replaceAll("NAME", name));
          const isLive = shown === "live";
          document.body.dataset.state = shown;
          document.body.toggleAttribute("data-bad",
            ["refused", "busy", "away", "replaced", "old"].includes(shown));
          byID("words").textContent = title;
          byID("hint").textContent = !isLive ? hint : step > 2 ? text.slow
            : video.videoHeight > video.videoWidth ? text.turn : hint;
          byID("again").hidden = !button;
          byID("again").textContent = button ?? "";
          byID("turn").hidden = byID("end").hidden = !isLive;
          byID("light").hidden = !isLive || !track?.getCapabilities?.().torch;
          byID("light").setAttribute("aria-pressed", Boolean(track?.getSettings().torch));
          for (const [id, key] of [["turn", "camera"], ["light", "light"], ["end", "end"]]) {
            byID(id).lastElementChild.textContent = text[key];
          }
        }

        byID("turn").onclick = () => {
          wanted.side = side() === "front" ? "back" : "front";
          open();
        };
        byID("light").onclick = async () => {
          wanted.light = !track?.getSettings().torch;
          await adjust().catch(() => {});
          report();
          show(state);
        };
        byID("end").onclick = () => { isStopped = true; close(); report(); };
        byID("again").onclick = () => {
          if (isOver) return location.reload();
          isStopped = false;
          state = "opening";
          follow();
        };

        // MARK: What is wanted

        async function follow() {
          if (wanted.run && !document.hidden) await open();
          else if (!wanted.run) close();
          await adjust().catch(() => {});
          if (!["refused", "busy"].includes(state) || track || !wanted.run) report();
          else tell();
        }

        const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

        async function trade(code) {
          history.replaceState(null, "", "/");
          const before = secret;
          for (secret = null; !secret && !isOver;) {
            try { secret = await ask("/pair", code, 4); } catch {
              // An old code in a page that was kept open: its own key may still be good.
              if (isOver && before) { isOver = false; secret = before; } else if (!isOver) await pause(1);
            }
          }
          if (secret) localStorage.setItem(item, secret);
        }

        async function listen() {
          let after = 0;
          while (!isOver) {
            try {
              const answer = JSON.parse(await ask(`/wait?after=${after}`, undefined, 25));
              isAway = false;
              if (answer.name) name = answer.name;
              after = answer.number;
              wanted = answer;
              await follow();
            } catch {
              if (isOver) return;
              isAway = Date.now() - lastSeen > 3000 || !track;
              show(state);
              await pause(isAway ? 2 : 0.3);
            }
          }
        }

        for (const [where, event] of [[document, "visibilitychange"], [window, "focus"],
          [window, "pageshow"]]) {
          where.addEventListener(event, () => { if (document.hidden) report(); else follow(); });
        }
        screen.orientation?.addEventListener("change", () => show(state));
        video.addEventListener("resize", () => show(state));

        (async () => {
          show("opening");
          const code = location.pathname.slice(1);
          if (code) await trade(code);
          if (!secret) return finish("old");
          pump();
          await listen();
        })();
        """#
}
