// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is built the same way: Swift 6, explicit existentials, imports that say
/// what leaks, and no warning that can be lived with. A release is compiled once, for users and
/// tests alike, so it lets tests look inside; its modules are parsed once, not a second time to be
/// described to others.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
    .unsafeFlags(
        ["-enable-testing", "-no-emit-module-separately-wmo"],
        .when(configuration: .release)
    ),
]

/// Pixel loops are some three hundred times slower without optimisation, too slow for a debug
/// build that shows a live picture; so the modules that touch pixels are always optimised.
let pixelSettings = settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// Tests without pixels gain nothing from an optimiser, which takes half of a build.
let unoptimised: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]
let testSettings = settings + unoptimised

/// What draws asks for many small parts of itself in every row; that no two of them overlap is
/// checked in debug builds alone.
let drawingSettings =
    pixelSettings + [
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
    ]

/// C is compiled with the checks that Debian has for it, and optimised in debug builds too:
/// fortified functions need that.
let hardening = ["-O2", "-D_FORTIFY_SOURCE=3", "-fstack-protector-strong"]

/// The linker for programs that run on other distributions than the one that builds them: see
/// `tools/dist`. What it has no archive of, Exiv2, is loaded with a library of ours.
let portableLinker = Context.environment["DUALCAM_LINKER"]

/// Programs are position-independent by default. All their symbols are bound at the start, so that
/// no table of them stays writable (RELRO), and no stack is executable. They need no Swift where
/// they run: its libraries are linked in, Foundation with those that it is made of. That is told
/// to the linker alone, and not to SwiftPM (`--static-swift-stdlib`), which would compile all
/// modules once more for the tests.
let programLinking: [LinkerSetting] =
    [
        .unsafeFlags(["-static-stdlib"]),
        .unsafeFlags(
            ["now", "relro", "noexecstack"].flatMap { ["-Xlinker", "-z", "-Xlinker", $0] }
        ),
    ]
    + [
        "CoreFoundation", "_FoundationICU", "_FoundationCShims", "_FoundationCollections",
        "_CFXMLInterface", "_CFURLSessionInterface",
    ].map { .linkedLibrary($0) }
    + (portableLinker.map { [.unsafeFlags(["-ld-path=\($0)"])] } ?? [])

/// Where GTK's headers are, besides those of Pango. Its pkg-config file has flags that SwiftPM
/// refuses with a warning, and would be asked for whatever is built, also where there is no GTK.
let gtkDirectories = [
    "/usr/include/gtk-4.0", "/usr/include/libadwaita-1", "/usr/include/gdk-pixbuf-2.0",
    "/usr/include/graphene-1.0", "/usr/lib/graphene-1.0/include",
    "/usr/lib64/graphene-1.0/include",
    "/usr/lib/x86_64-linux-gnu/graphene-1.0/include",
    "/usr/lib/aarch64-linux-gnu/graphene-1.0/include",
]

let gtkSettings =
    settings + [.unsafeFlags(gtkDirectories.flatMap { ["-Xcc", "-I\($0)"] })]

let gtkIncludes: [CSetting] = [.unsafeFlags(gtkDirectories.map { "-I\($0)" })]

let package = Package(
    name: "DualCam",
    products: [
        .executable(name: "dualcamd", targets: ["dualcamd"]),
        .executable(name: "dualcamctl", targets: ["dualcamctl"]),
        .executable(name: "dualcam-view", targets: ["dualcam-view"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    ],
    targets: [
        // C libraries: a module map and the smallest shim header each.
        // Loads libav when it is first needed, so it is no library to link with.
        .target(
            name: "CAV",
            path: "Sources/C/CAV",
            cSettings: [.unsafeFlags(hardening)]
        ),
        .systemLibrary(name: "CCairo", path: "Sources/C/CCairo", pkgConfig: "pangocairo"),
        // Loads libcurl when it is first needed.
        .target(
            name: "CCurl",
            path: "Sources/C/CCurl",
            cSettings: [.unsafeFlags(hardening)]
        ),
        // Loads libmicrohttpd, GnuTLS and libqrencode when they are first needed.
        .target(
            name: "CPhone",
            path: "Sources/C/CPhone",
            cSettings: [.unsafeFlags(hardening)]
        ),
        .systemLibrary(name: "CDBus", path: "Sources/C/CDBus", pkgConfig: "dbus-1"),
        .systemLibrary(name: "CGLib", path: "Sources/C/CGLib", pkgConfig: "glib-2.0"),
        .systemLibrary(name: "CLinux", path: "Sources/C/CLinux"),
        .target(
            name: "CSandbox",
            path: "Sources/C/CSandbox",
            cSettings: [.unsafeFlags(hardening)]
        ),
        .systemLibrary(
            name: "CPipeWire",
            path: "Sources/C/CPipeWire",
            pkgConfig: "libpipewire-0.3"
        ),
        .systemLibrary(name: "CSystemd", path: "Sources/C/CSystemd", pkgConfig: "libsystemd"),
        .systemLibrary(name: "CTurboJPEG", path: "Sources/C/CTurboJPEG", pkgConfig: "libturbojpeg"),
        .target(
            name: "CJPEG",
            path: "Sources/C/CJPEG",
            cSettings: [.unsafeFlags(hardening)],
            linkerSettings: [.linkedLibrary("jpeg")]
        ),
        .systemLibrary(name: "CUdev", path: "Sources/C/CUdev", pkgConfig: "libudev"),
        .systemLibrary(name: "CV4L2", path: "Sources/C/CV4L2", pkgConfig: "libv4lconvert"),
        .systemLibrary(name: "CYUV", path: "Sources/C/CYUV"),

        // Rows of pixels in C, for instructions that Swift cannot choose when it runs.
        // Not hardened: no length here comes from outside, and it costs 5 % of a frame.
        .target(
            name: "CKernels",
            path: "Sources/C/CKernels",
            exclude: ["LICENSE.networks", "person.f16", "face.f16"],
            cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]
        ),

        // Cores: no clock, no device, no bus.
        .target(name: "Frames", swiftSettings: pixelSettings),
        .target(
            name: "Imaging",
            dependencies: ["Frames", "CJPEG", "CKernels", "CYUV", "CCairo"],
            swiftSettings: drawingSettings
        ),
        .target(
            name: "DualCamCore",
            dependencies: ["Frames", .product(name: "TOMLKit", package: "TOMLKit")],
            swiftSettings: settings
        ),

        .target(
            name: "Compositing",
            dependencies: ["Frames", "Imaging", "DualCamCore"],
            swiftSettings: drawingSettings
        ),

        // Adapters: each talks to one part of the system.
        .target(
            name: "Platform",
            dependencies: [
                "Frames", "CLinux", "CSandbox", "CSystemd",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // Movies as files: reading, recording, coding, repair. The only user of libav.
        .target(
            name: "Media",
            dependencies: ["Frames", "Imaging", "PipeWire", "Platform", "CAV"],
            swiftSettings: pixelSettings
        ),
        .target(
            name: "Capture",
            dependencies: [
                "Frames", "Imaging", "DualCamCore", "Media", "PipeWire", "Platform", "CCurl",
                "CLinux", "CPhone", "CSandbox", "CUdev", "CV4L2",
            ],
            swiftSettings: pixelSettings
        ),
        .target(
            name: "PipeWire",
            dependencies: ["Frames", "Platform", "CPipeWire"],
            swiftSettings: settings
        ),
        .target(
            name: "DBusKit",
            dependencies: ["CDBus", "Frames", "Platform"],
            swiftSettings: settings
        ),
        .target(
            name: "Control",
            dependencies: ["DBusKit", "DualCamCore", "Frames", "Platform"],
            swiftSettings: settings
        ),
        .target(
            name: "Engine",
            dependencies: [
                "Frames", "Imaging", "DualCamCore", "Compositing", "Capture", "Photos", "PipeWire",
                "Platform",
            ],
            swiftSettings: drawingSettings
        ),

        // Photographs as files; Exiv2 is C++ behind a C interface.
        .target(
            name: "CExiv2",
            path: "Sources/C/CExiv2",
            exclude: [portableLinker == nil ? "load.c" : "exiv2.cpp"],
            cSettings: [.unsafeFlags(hardening)],
            cxxSettings: [.unsafeFlags(hardening)],
            linkerSettings: portableLinker == nil ? [.linkedLibrary("exiv2")] : []
        ),
        .target(
            name: "Photos",
            dependencies: ["Frames", "Platform", "CExiv2", "CTurboJPEG"],
            swiftSettings: pixelSettings
        ),

        // What was kept of the pictures.
        .target(
            name: "CPNG",
            path: "Sources/C/CPNG",
            cSettings: [.unsafeFlags(hardening)],
            linkerSettings: [.linkedLibrary("png")]
        ),
        .target(
            name: "Library",
            dependencies: [
                "Frames", "Imaging", "Media", "Photos", "Platform", "CGLib", "CLinux", "CPNG",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: pixelSettings
        ),

        // The daemon, as a library that tests can import.
        .target(
            name: "DualCamDaemon",
            dependencies: [
                "Frames", "Imaging", "DualCamCore", "Capture", "PipeWire", "Engine",
                "Control", "DBusKit", "Library", "Media", "Photos", "Platform",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "dualcamd",
            dependencies: ["DualCamDaemon"],
            swiftSettings: settings,
            linkerSettings: programLinking
        ),
        // What keeps apps from the camera, and how it is mended.
        .target(
            name: "Doctor",
            dependencies: ["Control", "DBusKit", "DualCamCore", "Frames", "Platform"],
            swiftSettings: settings
        ),
        // The command line, as a library that tests can import.
        .target(
            name: "DualCamTool",
            dependencies: [
                "Control", "DBusKit", "Doctor", "Frames", "Platform", "DualCamCore", "Photos",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "dualcamctl",
            dependencies: ["DualCamTool"],
            swiftSettings: settings,
            linkerSettings: programLinking
        ),

        // The window, for desktops: the only user of GTK.
        .systemLibrary(name: "CGTK", path: "Sources/C/CGTK"),
        .target(
            name: "GTK",
            dependencies: ["Frames", "CCairo", "CGTK"],
            swiftSettings: gtkSettings
        ),
        // What hands do to the picture, and what is said of it: no GTK, no clock, no bus.
        .target(
            name: "ViewCore",
            dependencies: ["DualCamCore", "Frames"],
            swiftSettings: settings
        ),
        .target(
            name: "DualCamView",
            dependencies: [
                "Control", "DBusKit", "DualCamCore", "Frames", "GTK", "Imaging", "PipeWire",
                "Platform", "ViewCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: gtkSettings
        ),
        .executableTarget(
            name: "dualcam-view",
            dependencies: ["DualCamView"],
            swiftSettings: settings,
            linkerSettings: programLinking
        ),

        // What tests share: sessions of their own, programs to run, a consumer of the stream.
        .target(
            name: "TestSupport",
            dependencies: ["Control", "DBusKit", "Frames", "PipeWire", "Platform", "CGLib"],
            path: "Tests/Support",
            swiftSettings: settings
        ),

        .target(
            name: "TestCameras",
            dependencies: ["Capture", "DualCamCore", "Frames", "Platform", "TestJPEGs"],
            path: "Tests/Cameras",
            swiftSettings: settings
        ),

        // JPEGs with every fault of a camera, made by a script.
        .target(
            name: "TestJPEGs",
            dependencies: ["Frames", "CTurboJPEG"],
            path: "Tests/JPEGs",
            swiftSettings: settings
        ),

        // Measures, and is measured itself; not installed. See docs/speed.md.
        .executableTarget(
            name: "bench",
            dependencies: [
                "Frames", "Imaging", "DualCamCore", "Compositing", "Capture", "Engine", "Platform",
                "Control",
                "DBusKit", "TestSupport", "CTurboJPEG",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Bench",
            exclude: ["allocations.c"],
            swiftSettings: pixelSettings
        ),

        .testTarget(
            name: "FramesTests",
            dependencies: ["Frames", "TestJPEGs"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ImagingTests",
            dependencies: [
                "Frames", "Imaging", "CCairo", "CTurboJPEG", "TestJPEGs", "TestSupport",
            ],
            exclude: ["Persons"],
            swiftSettings: pixelSettings
        ),
        .testTarget(
            name: "DualCamCoreTests",
            dependencies: ["Frames", "DualCamCore", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PlatformTests",
            dependencies: [
                "CSandbox", "Frames", "Platform", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "CaptureTests",
            dependencies: [
                "Frames", "Imaging", "DualCamCore", "Capture", "Engine", "PipeWire", "Platform",
                "TestJPEGs", "TestSupport", "CTurboJPEG", "CV4L2",
            ],
            swiftSettings: pixelSettings
        ),
        .testTarget(
            name: "PipeWireTests",
            dependencies: ["Frames", "Platform", "PipeWire", "TestSupport", "CPipeWire"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "MediaTests",
            dependencies: [
                "Frames", "Media", "Platform", "TestJPEGs", "TestSupport", "CPipeWire",
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "DBusKitTests",
            dependencies: ["CDBus", "DBusKit", "Frames", "Platform", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PhotosTests",
            dependencies: [
                "Frames", "Photos", "Platform", "CTurboJPEG", "TestJPEGs", "TestSupport",
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "LibraryTests",
            dependencies: ["Frames", "Library", "Photos", "Platform", "TestSupport"],
            swiftSettings: testSettings
        ),
        // Each reader of foreign bytes, with what to feed it.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "CDBus", "Capture", "Control", "DBusKit", "DualCamCore", "DualCamDaemon", "Frames",
                "Media", "Photos", "PipeWire", "Platform",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Fuzz",
            exclude: ["main.swift"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: ["FuzzTargets", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ToolTests",
            dependencies: [
                "DualCamTool", "Control", "DBusKit", "Doctor", "Frames", "Platform", "TestSupport",
            ],
            exclude: ["Goldens"],
            swiftSettings: testSettings
        ),
        // Of the client, what needs no process and no bus.
        .testTarget(
            name: "DualCamCtlTests",
            dependencies: [
                "DualCamTool", "Control", "DBusKit", "Doctor", "DualCamCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: testSettings
        ),
        // Of the doctor, what needs no process and no bus; `ToolTests` run it.
        .testTarget(
            name: "DoctorTests",
            dependencies: ["Control", "Doctor", "DualCamCore", "Platform", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ControlTests",
            dependencies: ["Control", "DBusKit", "DualCamCore", "Platform", "TestSupport"],
            swiftSettings: testSettings
        ),
        // A program that writes to our node, and calls the daemon, whatever PipeWire and the bus
        // let it.
        .executableTarget(
            name: "hostile-client",
            dependencies: ["CDBus", "CPipeWire"],
            path: "Tests/Hostile",
            linkerSettings: [.linkedLibrary("dbus-1"), .linkedLibrary("pipewire-0.3")]
        ),
        // A PipeWire camera of JPEGs, as a phone is one.
        .executableTarget(
            name: "jpeg-node",
            dependencies: ["CPipeWire"],
            path: "Tests/JPEGNode",
            linkerSettings: [.linkedLibrary("pipewire-0.3")]
        ),
        // A window that files are dragged to, and one that covers others.
        .executableTarget(
            name: "test-window",
            dependencies: ["CGTK", "CCairo"],
            path: "Tests/Window",
            cSettings: gtkIncludes,
            linkerSettings: ["gtk-4", "gio-2.0", "gobject-2.0", "glib-2.0", "X11"].map {
                .linkedLibrary($0)
            }
        ),
        .testTarget(
            name: "DualCamDaemonTests",
            dependencies: [
                "CDBus", "Capture", "Control", "DBusKit", "DualCamCore", "DualCamDaemon", "Engine",
                "Frames", "Media", "Platform", "TestCameras", "TestSupport",
            ],
            swiftSettings: testSettings
        ),
        // Tests that run programs depend on none: all that is in this package is built with them.
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "Capture", "Control", "DBusKit", "DualCamCore", "Frames", "Photos", "Platform",
                "TestJPEGs", "TestSupport",
            ],
            exclude: ["slowdisk.c"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "CompositingTests",
            dependencies: [
                "Frames", "Imaging", "DualCamCore", "Compositing", "TestJPEGs", "CCairo",
            ],
            exclude: ["Goldens"],
            swiftSettings: pixelSettings
        ),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "Frames", "DualCamCore", "Compositing", "Capture", "Engine", "PipeWire", "Platform",
                "TestCameras", "TestSupport", "CTurboJPEG",
            ],
            swiftSettings: testSettings
        ),
        // Of the window, what needs no process and no screen.
        .testTarget(
            name: "ViewCoreTests",
            dependencies: ["DualCamCore", "Frames", "ViewCore"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ViewTests",
            dependencies: [
                "Control", "DBusKit", "DualCamCore", "DualCamView", "Frames", "Platform",
                "TestSupport", "ViewCore",
            ],
            exclude: ["lifted.c", "righttoleft.c"],
            swiftSettings: gtkSettings + unoptimised
        ),
        // These run what is built, and know nothing of its insides.
        .testTarget(
            name: "SpeedTests",
            dependencies: ["TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "BrowserTests",
            dependencies: ["TestSupport", "Control", "DBusKit", "Platform", "Frames"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "VMTests",
            dependencies: ["TestSupport"],
            swiftSettings: testSettings
        ),
    ]
)

/// Targets of tests that show the same on each system: no foreign library does the work, and no
/// system is asked. DUALCAM_TESTS=system leaves them out where another release has proved them.
let portable: Set = [
    "bench", "FuzzTargets", "FuzzTests", "FramesTests", "ImagingTests",
    "DualCamCoreTests", "ControlTests", "DualCamCtlTests", "DoctorTests", "DualCamDaemonTests",
    "EngineTests", "ToolTests", "ViewCoreTests", "SpeedTests",
]
// It can be linked only as tools/fuzz does.
if Context.environment["FUZZING"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: ["FuzzTargets"],
            path: "Tests/Fuzz",
            sources: ["main.swift"]
        )
    )
}

if Context.environment["DUALCAM_TESTS"] == "system" {
    package.targets.removeAll { portable.contains($0.name) }
}
