/// The look of the window; colours and sizes as `docs/window.md` shows them.
let styleSheet = """
    window.dualcam { background: black; border-radius: 14px; }
    window.dualcam.solid-csd { border-radius: 0; padding: 0; }
    window.dualcam:not(.solid-csd) .stage { border-radius: 14px; }
    .stage { color: white; }
    .stage picture:focus-visible { outline: none; }
    .disc { min-width: 28px; min-height: 28px; padding: 0; border-radius: 999px;
            background: alpha(black, 0.62); color: white; }
    .disc:hover { background: alpha(black, 0.78); }
    .bar { background: alpha(black, 0.62); border-radius: 999px; padding: 5px 8px; }
    .bar button { min-width: 36px; min-height: 36px; padding: 0; border-radius: 999px;
                  background: none; color: white; box-shadow: none; }
    .bar button:hover { background: alpha(white, 0.16); }
    .bar button:checked { background: alpha(white, 0.9); color: black; }
    .bar button:disabled { color: alpha(white, 0.35); }
    .bar button.record { color: #ff3b30; }
    .bar button.record:disabled { color: alpha(#ff3b30, 0.4); }
    .bar button:focus-visible, .disc:focus-visible { outline: 2px solid white; outline-offset: 1px; }
    .tag { background: alpha(black, 0.62); color: white; border-radius: 999px; padding: 3px 12px; }
    .recording { color: white; font-feature-settings: "tnum"; font-weight: 600; }
    .recording image { color: #ff3b30; }
    .carried { border-radius: 9px; box-shadow: 0 4px 14px alpha(black, 0.5);
               border: 2px solid alpha(white, 0.85); }
    .situation { background: alpha(black, 0.85); border-radius: 14px; padding: 14px 18px; color: white; }
    .situation .title { font-weight: 700; font-size: 115%; }
    .strip { background: alpha(black, 0.82); padding: 8px; color: white; }
    .strip .cell { padding: 0; min-width: 0; min-height: 0; border-radius: 7px; background: #222;
        outline: none; box-shadow: none; }
    .strip .cell picture { border-radius: 7px; }
    .strip .chosen, .strip .cell:focus-visible { box-shadow: 0 0 0 2px #3584e4; }
    .strip .live { box-shadow: 0 0 0 2px alpha(white, 0.6); }
    .strip button:not(.cell) { min-height: 26px; min-width: 24px; padding: 0 10px; }
    .keycap { min-width: 16px; padding: 2px 8px; border-radius: 6px;
              background: alpha(currentColor, 0.1); }
    .choice { padding: 3px; border-radius: 9px; }
    .choice:checked { background: @accent_bg_color; }
    .choice picture { border-radius: 7px; }
    .values { background: alpha(black, 0.62); border-radius: 999px; padding: 3px 8px; }
    .values button, .values label { min-height: 30px; padding: 0 8px; border-radius: 999px;
        background: none; color: white; box-shadow: none; font-weight: normal;
        font-family: "JetBrains Mono", monospace; font-feature-settings: "tnum"; }
    .values button:checked { color: #ffcc40; }
    .values button:disabled { color: alpha(white, 0.45); }
    .values button:hover { background: alpha(white, 0.14); }
    .lenses { background: alpha(black, 0.55); border-radius: 999px; padding: 4px; }
    .lenses button, .presets button { min-height: 30px; min-width: 34px; padding: 0 4px;
        border-radius: 999px; background: alpha(black, 0.5); color: white; box-shadow: none; }
    .presets button { padding: 0 10px; font-size: 90%; }
    .lenses button:checked, .presets button:checked { color: #ffcc40; background: alpha(black, 0.8); }
    .contrast .disc, .contrast .bar, .contrast .tag, .contrast .situation, .contrast .strip,
    .contrast .values, .contrast .lenses, .contrast .presets button {
        background: black; box-shadow: inset 0 0 0 1px white; }
    .contrast .bar button:checked { background: white; }
    .contrast .bar button:disabled, .contrast .values button:disabled { color: alpha(white, 0.6); }
    .contrast .strip .cell { box-shadow: 0 0 0 1px alpha(white, 0.6); }
    .contrast .strip .chosen, .contrast .strip .cell:focus-visible { box-shadow: 0 0 0 3px white; }
    .contrast .carried { border-color: white; }
    """
