/// The page that a phone's browser shows: it sends the pictures of the phone's camera. Fixed bytes
/// without a secret; what it may know comes once it has proved its key.
enum PhonePage {
    static let html: StaticString = #"""
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
        <video autoplay muted playsinline></video>
        <svg id="picture" viewBox="0 0 240 96" aria-hidden="true">
          <rect x="8" y="8" width="46" height="80" rx="8"/><circle cx="31" cy="28" r="8"/>
          <path class="way" d="M72 48h56m-14-14 14 14-14 14"/>
          <path class="cross" d="m88 34 28 28m0-28-28 28"/>
          <rect x="146" y="14" width="86" height="56" rx="5"/><path d="M168 86h42"/>
        </svg>
        <main><h1 role="status"></h1><p></p><button id="again"></button></main>
        <nav>
          <button id="light"><svg viewBox="0 0 24 24"><path d="M13 2 5 14h6l-1 8 8-12h-6z"/></svg>
            <span></span></button>
          <button id="end"><svg viewBox="0 0 24 24"><path d="M6 6h12v12H6z"/></svg><span></span></button>
          <button id="camera"><svg viewBox="0 0 24 24"><path d="M4 12a8 8 0 0 1 14-5l2 2V3h-2v2a10 10 0
            0 0-16 7zm16 0a8 8 0 0 1-14 5l-2-2v6h2v-2a10 10 0 0 0 16-7z"/></svg><span></span></button>
        </nav>
        """#

    static let style: StaticString = #"""
        * { box-sizing: border-box; margin: 0 }
        [hidden] { display: none !important }
        html, body { height: 100%; background: #000; color: #fff; overflow: hidden }
        body { font: 17px/1.4 system-ui, sans-serif; display: flex; flex-direction: column;
          align-items: center; -webkit-user-select: none; user-select: none; text-align: center }
        video { position: fixed; width: 100%; height: 100%; object-fit: contain; visibility: hidden }
        [data-state=live] video { visibility: visible }
        #picture { order: 1; flex: 0 1 120px; min-height: 0; margin: auto; padding: 8px; fill: none;
          stroke: #9ab; stroke-width: 4; stroke-linecap: round; stroke-linejoin: round }
        .cross { stroke: #ff6b6b }
        [data-bad] .way, body:not([data-bad]) .cross { visibility: hidden }
        [data-state=live] #picture { visibility: hidden }
        main { position: relative; width: 100%; text-shadow: 0 1px 3px #000;
          padding: calc(16px + env(safe-area-inset-top)) 20px 24px;
          background: linear-gradient(#000d, #0009 70%, #0000) }
        h1 { font-size: 17px }
        h1::before { content: ""; display: inline-block; width: 12px; height: 12px; margin-right: 9px;
          border-radius: 6px; background: #889 }
        [data-state=live] h1::before { background: #3ddc84; box-shadow: 0 0 10px #3ddc84 }
        [data-bad] h1::before { background: #ff6b6b }
        p { color: #d5dde6 }
        nav { order: 2; position: relative; display: flex; justify-content: center; gap: 12px; width: 100%;
          min-height: 96px; padding: 12px 12px calc(18px + env(safe-area-inset-bottom)) }
        button { font: inherit; color: #fff; background: #1c232bdd; border: 0; border-radius: 18px;
          padding: 8px 14px; min-width: 84px; min-height: 64px }
        nav span { display: block; font-size: 13px }
        nav svg { width: 26px; height: 26px; fill: currentColor }
        nav button { flex: 0 1 118px; min-width: 0; padding: 8px 6px }
        #end { background: #d3302f; flex-basis: 128px }
        #again { margin-top: 14px; background: #2f74d0; min-height: 52px }
        [aria-pressed=true] { background: #f5c542; color: #000 }
        """#

    static let script: StaticString = #"""
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
        const find = (selector) => document.querySelector(selector);
        const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
        const video = find("video"), canvas = document.createElement("canvas");
        const pen = canvas.getContext("2d", { alpha: false });
        const page = [...crypto.getRandomValues(new Uint8Array(16))]
          .map((byte) => byte.toString(16).padStart(2, "0")).join("");
        let secret = null, name = "the computer", wanted = { number: 0 }, track = null, lock = null;
        // Why it is over for good, and why there is no camera.
        let end = null, failure = null;
        let isOpening = false, isStopped = false, isAway = false, lastSeen = Date.now(), told = "";

        const state = () => end ?? (isStopped ? "stopped" : document.hidden ? "hidden" : failure
          ?? (isOpening && !track ? "asking" : !wanted.number ? "opening" : !track ? "ready"
            : track.muted ? "busy" : "live"));

        // The key's place. Not localStorage, which browsers write seconds later: one that is ended
        // before would have forgotten it.
        const stored = (key) => new Promise((done, fail) => {
          const request = indexedDB.open("dualcam");
          request.onupgradeneeded = () => request.result.createObjectStore("keys");
          request.onerror = fail;
          request.onsuccess = () => {
            const mode = key ? "readwrite" : "readonly";
            const step = request.result.transaction("keys", mode, { durability: "strict" });
            const keys = step.objectStore("keys"), found = key ? keys.put(key, 0) : keys.get(0);
            step.oncomplete = () => done(found.result);
            step.onabort = fail;
          };
        });

        async function ask(path, body, seconds) {
          const answer = await fetch(path, {
            method: body === undefined ? "GET" : "POST", body, cache: "no-store",
            credentials: "omit", redirect: "error", signal: AbortSignal.timeout(seconds * 1000),
            headers: secret ? { "X-DualCam-Key": secret, "X-DualCam-Page": page } : {},
          });
          // After these nothing else is right: asking again would be guessing.
          if (answer.status === 401) end = "old";
          if (answer.status === 409) end = "replaced";
          if (!answer.ok) throw new Error(answer.status);
          const found = await answer.text();
          lastSeen = Date.now();
          return found;
        }

        // MARK: Pictures

        // The size, the quality, and how many may be under way: more where smaller ones do not
        // help, since not what the network carries is short, but how soon it answers.
        const steps = [[1, 0.8, 2], [1, 0.65, 2], [1, 0.65, 3], [1, 0.5, 3], [0.75, 0.6, 3],
          [0.75, 0.45, 3], [0.5, 0.5, 3]];
        const isSmall = () => steps[step][0] < 1;
        let step = 0, sent = 0, skipped = 0, calm = 0, needed = 10, risen = 0;
        let flying = 0, last = 0;

        async function send() {
          // A clock that is never set back.
          const now = performance.now(), taken = Math.round(performance.timeOrigin + now);
          if (state() !== "live" || !wanted.rate || !video.videoWidth) return;
          // Where nothing answers, a few pictures find out when something does.
          if (now - last < (isAway ? 500 : 750 / wanted.rate)) return;
          const [scale, quality, most] = steps[step], { videoWidth, videoHeight } = video;
          if (flying >= most) { skipped++; return; }
          flying++; sent++; last = now;
          try {
            const side = Math.max(wanted.width, wanted.height);
            const factor = Math.min(1, side / Math.max(videoWidth, videoHeight)) * scale;
            const [width, height] = [videoWidth, videoHeight]
              .map((one) => Math.round(one * factor / 2) * 2);
            if (canvas.width !== width) canvas.width = width;
            if (canvas.height !== height) canvas.height = height;
            pen.drawImage(video, 0, 0, width, height);
            const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", quality));
            // One that takes longer is old, and what is taken meanwhile is not.
            if (!blob || performance.now() - now > 1000) { skipped++; return; }
            // By its time the computer knows one that was under way while the network was gone.
            await ask(`/picture?n=${taken}`, blob, 2);
            isAway = false;
          } catch { skipped++; } finally { flying--; }
        }

        // Follows the network: smaller pictures instead of late ones.
        setInterval(() => {
          if (sent + skipped > 4 && skipped > 0.15 * (sent + skipped)) {
            if (step < steps.length - 1) step++;
            // A step up that was too much is not tried again so soon.
            if (Date.now() - risen < 3000) needed = Math.min(80, needed * 2);
            calm = 0;
          } else if (sent > 4 && ++calm >= needed && step > 0) {
            [step, calm, risen] = [step - 1, 0, Date.now()];
          }
          sent = skipped = 0;
          if (end || isAway && Date.now() - lastSeen > 10000) close();
          update();
        }, 1000);

        function pump() {
          if (!video.requestVideoFrameCallback) return setInterval(send, 33);
          const next = () => { send(); video.requestVideoFrameCallback(next); };
          video.requestVideoFrameCallback(next);
        }

        // MARK: The camera

        const side = () => ({ user: "front", environment: "back" })[track?.getSettings().facingMode]
          ?? wanted.side;

        async function open() {
          // Smaller pictures are not worth another start of the camera.
          const [width, height] = [Math.max(wanted.width, 1280), Math.max(wanted.height, 720)];
          const wish = [wanted.side, width, height].join();
          if (isOpening || track?.readyState === "live" && track.wish === wish) return;
          close();
          failure = null;
          isOpening = true;
          update();
          try {
            const stream = await navigator.mediaDevices.getUserMedia({ video: {
              facingMode: { ideal: wanted.side === "front" ? "user" : "environment" },
              width: { ideal: width }, height: { ideal: height },
              frameRate: { ideal: Math.max(30, wanted.rate) }, zoom: true,
            } });
            track = stream.getVideoTracks()[0];
            track.wish = wish;
            track.onended = () => { close(); failure = "busy"; update(); };
            track.onmute = track.onunmute = update;
            video.srcObject = stream;
            await video.play().catch(() => {});
          } catch (error) {
            close();
            failure = ["NotAllowedError", "SecurityError"].includes(error.name) ? "refused" : "busy";
          }
          isOpening = false;
        }

        function close() {
          if (track) track.onended = null;
          track?.stop();
          track = video.srcObject = null;
        }

        async function adjust() {
          const can = track?.getCapabilities?.() ?? {}, now = track?.getSettings(), change = {};
          if (can.zoom && wanted.zoom > 0 && wanted.zoom !== now.zoom) change.zoom = wanted.zoom;
          if (can.torch && wanted.light !== Boolean(now.torch)) change.torch = Boolean(wanted.light);
          if (Object.keys(change).length) await track.applyConstraints({ advanced: [change] });
        }

        // Does what is wanted now.
        async function follow() {
          const mayRun = wanted.run && !isStopped && !end;
          if (!mayRun) { close(); failure = null; } else if (!document.hidden) await open();
          // Something else may have been wanted meanwhile.
          if (!wanted.run || isStopped) close();
          await adjust().catch(() => {});
          update();
        }

        // MARK: What is said and shown

        function tell(now) {
          const can = track?.getCapabilities?.() ?? {}, is = track?.getSettings() ?? {};
          const fields = { state: now, command: wanted.number, slow: isSmall() ? 1 : 0 };
          if (track) fields.side = side();
          if (can.zoom) fields.zoom = [can.zoom.min, can.zoom.max, can.zoom.step || 0.1, is.zoom || 1];
          if (can.torch) fields.light = is.torch ? 1 : 0;
          const body = Object.entries(fields).map((field) => field.join("=")).join("&");
          if (body === told) return;
          told = body;
          ask("/state", body, 4).catch(() => { told = ""; });
        }

        function awake(isNeeded) {
          if (isNeeded && !lock) {
            lock = navigator.wakeLock?.request("screen");
            lock?.then((held) => { held.onrelease = () => { lock = null; }; }, () => { lock = null; });
          } else if (!isNeeded) lock?.then((held) => held.release());
        }

        function update() {
          const now = state(), shown = isAway && !end ? "away" : now;
          const isLive = shown === "live", isThere = wanted.number && !end && !isAway;
          if (isThere) tell(now);
          // A screen that goes dark would keep the camera from coming back.
          awake(isThere && ["live", "ready"].includes(now));
          const [title, hint, button] = text[shown].map((line) => line.replaceAll("NAME", name));
          document.body.dataset.state = shown;
          document.body.toggleAttribute("data-bad",
            ["refused", "busy", "away", "replaced", "old"].includes(shown));
          find("h1").textContent = title;
          find("p").textContent = !isLive ? hint : isSmall() ? text.slow
            : video.videoHeight > video.videoWidth ? text.turn : hint;
          find("#again").textContent = button ?? "";
          find("#again").hidden = !button;
          find("nav").hidden = !isLive;
          find("#light").hidden = !track?.getCapabilities?.().torch;
          find("#light").setAttribute("aria-pressed", Boolean(track?.getSettings().torch));
        }

        for (const id of ["camera", "light", "end"]) find(`#${id} span`).textContent = text[id];
        find("#camera").onclick = () => {
          wanted.side = side() === "front" ? "back" : "front";
          follow();
        };
        find("#light").onclick = () => {
          wanted.light = !track?.getSettings().torch;
          follow();
        };
        find("#end").onclick = () => { isStopped = true; follow(); };
        find("#again").onclick = () => {
          if (end) return location.reload();
          isStopped = false;
          follow();
        };
        for (const event of ["visibilitychange", "focus", "pageshow"]) addEventListener(event, follow);
        video.onresize = update;

        // MARK: What is wanted

        async function trade(code) {
          history.replaceState(null, "", "/");
          const before = secret;
          for (secret = null; !secret && !end;) {
            // A code works once: one whose answer was not waited for is used up.
            try { secret = await ask("/pair", code, 20); } catch { if (!end) await pause(1); }
          }
          if (secret) return stored(secret).catch(() => {});
          // An old code in a page that was kept open: its own key may still be good.
          if (before) [end, secret] = [null, before];
        }

        (async () => {
          update();
          const code = location.pathname.slice(1);
          secret = await stored().catch(() => null);
          if (code) await trade(code);
          if (!secret) end = "old";
          pump();
          for (let after = 0; !end;) {
            try {
              wanted = JSON.parse(await ask(`/wait?after=${after}`, undefined, 25));
              ({ number: after, name } = wanted);
              isAway = false;
              await follow();
            } catch {
              isAway = Date.now() - lastSeen > 3000 || !track;
              update();
              await pause(isAway ? 2 : 0.3);
            }
          }
          follow();
        })();
        """#
}
