import GTK

/// The size of letters over the picture, and of all that is beside them, over the usual one. There
/// is room for one and a half.
var textScale: Double { min(max(Widget.textScale, 1), 1.5) }

/// Returns the look of the window for letters `scale` times as large as usual; `docs/window.md`
/// shows it. Over the picture there are black, white, and amber for what is on; red is a recording.
func styleSheet(_ scale: Double) -> String {
    func px(_ size: Double) -> String { "\(size * scale)px" }
    let (amber, red) = ("#ffcc40", "#ff594d")
    // What has symbols alone, and what has words, which nothing may shine through.
    let symbols = "background: alpha(black, 0.72); box-shadow: inset 0 0 0 1px alpha(white, 0.12);"
    let words = "background: alpha(black, 0.84); box-shadow: inset 0 0 0 1px alpha(white, 0.12);"
    let button =
        "padding: 0; border-radius: 999px; background: none; color: white; "
        + "box-shadow: none; border: none; filter: none; transition: background 200ms;"
    return """
        @define-color accent_bg_color #1c71d8;
        window.dualcam { background: black; border-radius: 12px; }
        window.dualcam.solid-csd { border-radius: 0; padding: 0; }
        window.dualcam:not(.solid-csd) .stage { border-radius: 12px; }
        window.dualcam.fullscreen, window.dualcam.fullscreen .stage,
        window.dualcam.maximized, window.dualcam.maximized .stage { border-radius: 0; }
        .stage { color: white; }
        .stage picture:focus-visible { outline: none; }
        .stage > picture { transition: filter 300ms; }
        .stage.still > picture { filter: grayscale(1) brightness(0.38); }
        .disc { \(button) \(symbols) min-width: \(px(32)); min-height: \(px(32));
                -gtk-icon-size: \(px(16)); }
        .fullscreen .disc { min-width: \(px(48)); min-height: \(px(48)); -gtk-icon-size: \(px(20)); }
        .bar { \(symbols) border-radius: 999px; padding: \(px(4)) \(px(8)); }
        .bar button { \(button) min-width: \(px(40)); min-height: \(px(40));
                      -gtk-icon-size: \(px(20)); }
        .bar.small button { min-width: \(px(32)); min-height: \(px(32)); }
        .bar.tiny button { min-width: \(px(28)); min-height: \(px(28)); -gtk-icon-size: \(px(16)); }
        .bar button:hover, .disc:hover, .pill button:hover { background: alpha(white, 0.16); }
        .bar button:checked, .bar button.on { color: \(amber); background:
            radial-gradient(circle at 50% \(px(35)), \(amber) \(px(2)), transparent \(px(2.5))); }
        .bar.small button:checked, .bar.small button.on { background:
            radial-gradient(circle at 50% \(px(28)), \(amber) \(px(2)), transparent \(px(2.5))); }
        .bar button:disabled, .values label:disabled { color: alpha(white, 0.6); }
        .bar button.record { min-width: \(px(44)); min-height: \(px(44));
                             border: 2px solid white; background: none; }
        .bar.small button.record { min-width: \(px(36)); min-height: \(px(36)); }
        .bar.tiny button.record { min-width: \(px(28)); min-height: \(px(28)); }
        .bar button.record:disabled { border-color: alpha(white, 0.6); }
        .bar .dot { background: \(red); min-width: \(px(30)); min-height: \(px(30));
                    border-radius: 999px; transition: all 200ms ease-out; }
        .bar.small .dot { min-width: \(px(26)); min-height: \(px(26)); }
        .bar.tiny .dot { min-width: \(px(20)); min-height: \(px(20)); }
        .bar .dot.stop { min-width: \(px(16)); min-height: \(px(16)); border-radius: 4px; }
        .bar button.record:disabled .dot { opacity: 0.6; }
        .bar button:focus-visible, .disc:focus-visible, .pill button:focus-visible {
            outline: 2px solid white; outline-offset: 0; box-shadow: 0 0 0 4px black; }
        .pill { \(words) color: white; border-radius: \(px(16)); padding: 0 \(px(12));
                min-height: \(px(32)); font-size: \(px(14)); }
        .pill button { \(button) min-height: \(px(24)); padding: 0 \(px(12));
                       margin: \(px(4)) \(px(-8)) \(px(4)) 0; background: alpha(white, 0.16);
                       font-weight: 600; }
        .rtl .pill button { margin: \(px(4)) 0 \(px(4)) \(px(-8)); }
        .pill button:hover { background: alpha(white, 0.28); }
        .recording { font-feature-settings: "tnum"; font-weight: 600; }
        .recording .dot { background: \(red); min-width: \(px(10)); min-height: \(px(10));
                          border-radius: 999px; }
        .recording button { min-width: \(px(24)); padding: 0; -gtk-icon-size: \(px(12)); }
        .bar.words { \(words) padding: \(px(6)) \(px(8)); }
        .bar.words button { min-width: \(px(20)); padding: 0 \(px(10)); font-size: \(px(14)); font-weight: 600; }
        .bar.words button:checked { color: \(amber); background: none; }
        .bar.words .quiet { background: alpha(white, 0.16); padding: 0 \(px(20)); }
        .bar.words .done { background: white; color: black; padding: 0 \(px(20)); }
        .bar.words .done:disabled { background: alpha(white, 0.16); color: alpha(white, 0.6); }
        .carried { border-radius: 9px; box-shadow: 0 12px 28px alpha(black, 0.55);
                   border: 2px solid white; }
        .carried.round { border-radius: 50%; }
        .situation { color: white; font-size: \(px(14)); -gtk-icon-size: \(px(48)); }
        .situation .title { font-weight: 700; font-size: \(px(20)); }
        .situation button { \(button) background: white; color: black; font-weight: 700;
                            min-height: \(px(40)); padding: 0 \(px(24)); }
        .situation button:focus-visible { outline: 2px solid white; outline-offset: 2px; }
        .strip { \(words) padding: 8px; color: white; border-radius: 16px; }
        .strip .cell { padding: 0; min-width: 0; min-height: 0; border-radius: 9px;
            background: #222; outline: none; box-shadow: none; margin: 3px 0; }
        .strip .cell picture { border-radius: 9px; }
        .strip .chosen, .strip .cell:focus-visible { box-shadow: 0 0 0 3px \(amber); }
        .strip .live { box-shadow: 0 0 0 2px alpha(white, 0.6); }
        .strip .badge { padding: 1px 8px; margin: 6px; font-weight: normal; }
        .strip button:not(.cell) { min-height: 26px; min-width: 24px; padding: 0 10px; }
        .dualcam popover contents { background: rgb(38, 38, 42); color: white; padding: 8px;
                                    border-radius: 16px; }
        .dualcam popover arrow { background: rgb(38, 38, 42); }
        .dualcam popover modelbutton:hover { background: alpha(white, 0.16); }
        .tile { \(button) border-radius: 9px; min-width: \(px(52)); padding: 6px 2px;
                font-size: \(px(12)); -gtk-icon-size: \(px(20)); font-weight: normal; }
        .tile:hover { background: alpha(white, 0.16); }
        .tile:checked { color: \(amber); background: none; }
        .tile:disabled { color: alpha(white, 0.6); }
        .tile .key { color: rgb(196, 196, 200); }
        .dualcam popover *:focus-visible { outline-color: white; }
        .layouts { padding: 8px; }
        .layout, .segment { \(button) border-radius: 9px; font-size: \(px(12));
                            font-weight: 600; padding: 4px; -gtk-icon-size: \(px(18)); }
        .layout:checked, .segment:checked { color: \(amber); }
        .miniature { border-radius: 6px; margin: 2px; outline: 2px solid transparent;
                     outline-offset: 2px; }
        .layout:checked .miniature { outline-color: \(amber); }
        .layout:hover { background: alpha(white, 0.16); }
        .segments { background: rgb(48, 48, 52); border-radius: 11px; padding: 2px; }
        .segment { min-height: \(px(40)); padding: 0 4px; }
        .segment:checked { background: rgb(87, 87, 90); }
        .segment:disabled { color: alpha(white, 0.6); }
        .layouts .key { color: rgb(196, 196, 200); font-size: \(px(12)); }
        .keycap { min-width: 16px; padding: 2px 8px; border-radius: 6px;
                  background: alpha(currentColor, 0.1); }
        .tile-picture, .miniature { border-radius: 12px; background: rgb(64, 64, 70); }
        .miniature { border-radius: 6px; color: white; font-weight: 700; }
        .tile-picture spinner { color: white; }
        .badge { background: alpha(black, 0.84); color: white; font-weight: 700;
                 border-radius: 999px; padding: 4px 10px; font-size: \(px(12)); }
        .actions button { font-weight: normal; padding: 4px 10px; }
        .miniature .inset { border-radius: 3px; }
        .miniature .inset.bordered { box-shadow: 0 0 0 1px white; }
        .miniature .inset.round { border-radius: 50%; }
        .miniature label { text-shadow: 0 1px 3px black; }
        .pick-tile { padding: 6px; border-radius: 18px; background: none; font-weight: normal; }
        .pick-tile:hover { background: alpha(currentColor, 0.07); }
        .pick-tile:checked { background: none; font-weight: 700; }
        .pick-tile:checked .miniature, .pick-tile:checked .tile-picture {
            box-shadow: 0 0 0 3px @window_bg_color, 0 0 0 6px @accent_bg_color; }
        .pick-tile:checked .miniature { box-shadow: 0 0 0 2px @window_bg_color,
                                                    0 0 0 5px @accent_bg_color; }
        .add-scene { border: 2px dashed alpha(currentColor, 0.4); border-radius: 12px; }
        .scene .disc { opacity: 0; transition: opacity 200ms; }
        .scene:hover .disc, .scene .disc:focus-visible { opacity: 1; }
        .try-inset { background: none; border-radius: 9px; padding: 0; min-width: 0; min-height: 0;
                     animation: breathe 1.2s ease-in-out infinite alternate; }
        @keyframes breathe { from { box-shadow: 0 0 0 2px \(amber); }
                             to { box-shadow: 0 0 0 6px alpha(\(amber), 0.6); } }
        .next { border-radius: 999px; min-height: 32px; padding: 5px 26px; }
        .report textview { padding: 12px; background: none; }
        .choice { padding: 3px; border-radius: 9px; }
        .choice:checked { background: @accent_bg_color; }
        .choice picture { border-radius: 7px; }
        .values button, .values label { min-width: 0; padding: 0 \(px(8));
            font-weight: normal; font-size: \(px(14));
            font-family: "JetBrains Mono", monospace; font-feature-settings: "tnum"; }
        .bar .values button { min-width: 0; padding: 0 \(px(8)); }
        .bar.small .values button, .bar.small .values label { font-size: \(px(13));
                                                              padding: 0 \(px(5)); }
        .bar .values button:checked { background: alpha(\(amber), 0.16); color: \(amber); }
        .lenses { \(symbols) border-radius: 999px; padding: 4px; }
        .lenses button, .presets button { \(button) min-height: \(px(32)); min-width: \(px(32));
            \(words) font-size: \(px(13)); }
        .presets button { padding: 0 \(px(12)); }
        .lenses button:checked { color: \(amber); }
        .presets button:checked { background: \(amber); color: black; }
        .contrast .disc, .contrast .bar, .contrast .pill, .pill.contrast, .contrast .strip,
        .contrast .lenses, .contrast .presets button {
            background: black; box-shadow: inset 0 0 0 2px white; }
        .contrast .bar button:checked, .contrast .bar button.on, .contrast .tile:checked,
        .contrast .segment:checked { background: white; color: black; }
        .contrast .bar button:focus-visible, .contrast .disc:focus-visible {
            outline: 3px solid \(amber); }
        .contrast .strip .cell { box-shadow: 0 0 0 1px alpha(white, 0.6); }
        .contrast .strip .chosen, .contrast .strip .cell:focus-visible { box-shadow: 0 0 0 3px white; }
        """
}
