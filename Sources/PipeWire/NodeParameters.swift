import CPipeWire
import Frames

// The parameters of a node. They offer exactly one format, size and rate: all that browsers, OBS,
// GStreamer and SDL have in common, and a format that never changes cannot break a stream.

/// Returns the one format: packed 4:2:2 of a fixed size and rate, in the stream's colours.
func nodeFormat(size: Size, rate: Int) -> Pods {
    Pods { builder in
        builder.object(SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat) {
            $0.id(SPA_FORMAT_mediaType, SPA_MEDIA_TYPE_video.rawValue)
            $0.id(SPA_FORMAT_mediaSubtype, SPA_MEDIA_SUBTYPE_raw.rawValue)
            $0.id(SPA_FORMAT_VIDEO_format, SPA_VIDEO_FORMAT_YUY2.rawValue)
            $0.rectangle(SPA_FORMAT_VIDEO_size, UInt32(size.width), UInt32(size.height))
            $0.fraction(SPA_FORMAT_VIDEO_framerate, UInt32(rate), 1)
            $0.id(SPA_FORMAT_VIDEO_colorRange, SPA_VIDEO_COLOR_RANGE_16_235.rawValue)
            $0.id(SPA_FORMAT_VIDEO_colorMatrix, SPA_VIDEO_COLOR_MATRIX_BT601.rawValue)
        }
    }
}

/// Returns the layout of a frame's memory, and its metadata.
func nodeMemory(size: Size) -> Pods {
    Pods { builder in
        let stride = CInt(size.width * 2)
        // Both ends agree on the count. Consumers ask for four or more, but with four, a single
        // slow consumer among several can hold them all. Rows are unpadded, as browsers compute
        // them.
        builder.object(SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers) {
            $0.range(SPA_PARAM_BUFFERS_buffers, 8, within: 6...16)
            $0.integer(SPA_PARAM_BUFFERS_blocks, 1)
            $0.integer(SPA_PARAM_BUFFERS_size, stride * CInt(size.height))
            $0.integer(SPA_PARAM_BUFFERS_stride, stride)
            $0.flags(
                SPA_PARAM_BUFFERS_dataType,
                1 << CInt(SPA_DATA_MemPtr.rawValue) | 1 << CInt(SPA_DATA_MemFd.rawValue)
            )
        }
        // Only metadata that both ends list is present. Browsers read the header without a check.
        builder.meta(SPA_META_Header, MemoryLayout<spa_meta_header>.size)
        builder.meta(SPA_META_VideoTransform, MemoryLayout<spa_meta_videotransform>.size)
    }
}

/// Returns one PropInfo for each property, then Props with all their values.
func propertyParameters(_ properties: [NodeProperty]) -> Pods {
    Pods { builder in
        for property in properties {
            builder.object(SPA_TYPE_OBJECT_PropInfo, SPA_PARAM_PropInfo) {
                $0.id(SPA_PROP_INFO_id, property.name.id)
                $0.string(SPA_PROP_INFO_description, property.name.title)
                let (least, most) = (property.range.lowerBound, property.range.upperBound)
                if property.name.isWhole {
                    $0.range(
                        SPA_PROP_INFO_type,
                        whole(property.value),
                        within: whole(least)...whole(most)
                    )
                } else {
                    $0.numberRange(
                        SPA_PROP_INFO_type,
                        Float(property.value),
                        within: Float(least)...Float(most)
                    )
                }
            }
        }
        builder.object(SPA_TYPE_OBJECT_Props, SPA_PARAM_Props) {
            for property in properties {
                if property.name.isWhole {
                    $0.integer(key: property.name.id, whole(property.value))
                } else {
                    $0.number(key: property.name.id, Float(property.value))
                }
            }
        }
    }
}

/// Returns `value` without its fraction, as near as 32 bits come; 0 for what is no number.
private func whole(_ value: Double) -> CInt {
    guard !value.isNaN else { return 0 }
    return CInt(max(Double(CInt.min), min(value, Double(CInt.max))))
}

/// Returns the values that an application has set in `props`, of those `shown` and no others. Any
/// client that may see the node may write anything: what is no number is left out, and what is
/// beyond a property's range becomes the end of it.
func readProperties(
    _ props: Pod?,
    of shown: [NodeProperty]
) -> [(name: NodeProperty.Name, value: Double)] {
    guard let props, props.isObject(SPA_TYPE_OBJECT_Props) else { return [] }
    return shown.compactMap { property in
        guard let number = props.number(property.name.id) else { return nil }
        let (least, most) = (property.range.lowerBound, property.range.upperBound)
        return (property.name, min(max(number, least), most))
    }
}

/// Adds `values` to those that were `written` before and not yet taken. The latest value of each
/// property counts, so that no flood of them piles up.
func gather(
    _ values: [(name: NodeProperty.Name, value: Double)],
    into written: inout [(name: NodeProperty.Name, value: Double)]
) {
    for value in values {
        if let index = written.firstIndex(where: { $0.name == value.name }) {
            written[index] = value
        } else {
            written.append(value)
        }
    }
}

extension PodBuilder {
    /// Adds the request for metadata of `type`, of `size` bytes, with each buffer.
    mutating func meta(_ type: spa_meta_type, _ size: Int) {
        object(SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta) {
            $0.id(SPA_PARAM_META_type, type.rawValue)
            $0.integer(SPA_PARAM_META_size, CInt(size))
        }
    }
}
