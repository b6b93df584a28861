#include "CExiv2.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include <exiv2/exiv2.hpp>

namespace {

std::mutex turn;

void say(const char *words, char *reason, size_t size)
{
    if (size > 0) {
        std::strncpy(reason, words, size - 1);
        reason[size - 1] = 0;
    }
}

// Returns the result of `body`, or `otherwise`, with the reason in `reason`, if it throws.
template <typename Result, typename Body>
Result guarded(Result otherwise, char *reason, size_t size, Body body)
{
    std::lock_guard<std::mutex> lock(turn);
    try {
        return body();
    } catch (const std::exception &error) {
        say(error.what(), reason, size);
    } catch (...) {
        say("unknown error", reason, size);
    }
    return otherwise;
}

uint8_t *copied(const uint8_t *bytes, size_t count)
{
    auto copy = static_cast<uint8_t *>(std::malloc(std::max<size_t>(count, 1)));
    if (copy) std::memcpy(copy, bytes, count);
    return copy;
}

bool isXmp(const char *tag) { return std::strncmp(tag, "Xmp.", 4) == 0; }

}

struct exiv2_file {
    std::unique_ptr<Exiv2::Image> image;
};

extern "C" {

int exiv2_load(void) { return 1; }

struct exiv2_file *exiv2_open(const uint8_t *bytes, size_t count, char *reason, size_t size)
{
    return guarded<exiv2_file *>(nullptr, reason, size, [&] {
        Exiv2::LogMsg::setLevel(Exiv2::LogMsg::mute);
        Exiv2::XmpParser::initialize();
        std::unique_ptr<exiv2_file> file(new exiv2_file);
        file->image.reset(Exiv2::ImageFactory::open(bytes, static_cast<long>(count)).release());
        if (!dynamic_cast<Exiv2::JpegImage *>(file->image.get())) throw std::runtime_error("no JPEG");
        file->image->readMetadata();
        return file.release();
    });
}

void exiv2_close(struct exiv2_file *file)
{
    guarded<int>(0, nullptr, 0, [&] {
        delete file;
        return 0;
    });
}

long exiv2_get(struct exiv2_file *file, const char *tag, char *value, size_t size)
{
    return guarded<long>(-1, nullptr, 0, [&] {
        std::string text;
        if (isXmp(tag)) {
            auto &data = file->image->xmpData();
            auto found = data.findKey(Exiv2::XmpKey(tag));
            if (found == data.end()) return -1L;
            text = found->toString();
        } else {
            auto &data = file->image->exifData();
            auto found = data.findKey(Exiv2::ExifKey(tag));
            if (found == data.end()) return -1L;
            text = found->toString();
        }
        say(text.c_str(), value, size);
        return static_cast<long>(std::strlen(value));
    });
}

int exiv2_set(struct exiv2_file *file, const char *tag, const char *value)
{
    return guarded<int>(0, nullptr, 0, [&] {
        int status = 0;
        if (isXmp(tag))
            status = file->image->xmpData()[tag].setValue(std::string(value));
        else
            status = file->image->exifData()[tag].setValue(std::string(value));
        return status == 0 ? 1 : 0;
    });
}

uint8_t *exiv2_thumbnail(struct exiv2_file *file, size_t *count)
{
    return guarded<uint8_t *>(nullptr, nullptr, 0, [&]() -> uint8_t * {
        Exiv2::ExifThumbC thumbnail(file->image->exifData());
        if (std::strcmp(thumbnail.mimeType(), "image/jpeg") != 0) return nullptr;
        Exiv2::DataBuf data = thumbnail.copy();
#if EXIV2_TEST_VERSION(0, 28, 0)
        const uint8_t *bytes = data.empty() ? nullptr : data.c_data();
        const size_t length = data.size();
#else
        const uint8_t *bytes = data.pData_;
        const size_t length = data.size_ > 0 ? static_cast<size_t>(data.size_) : 0;
#endif
        if (length == 0) return nullptr;
        *count = length;
        return copied(bytes, length);
    });
}

int exiv2_set_thumbnail(struct exiv2_file *file, const uint8_t *bytes, size_t count)
{
    return guarded<int>(0, nullptr, 0, [&] {
        Exiv2::ExifThumb thumbnail(file->image->exifData());
        if (count > 0)
            thumbnail.setJpegThumbnail(bytes, static_cast<long>(count));
        else
            thumbnail.erase();
        return 1;
    });
}

uint8_t *exiv2_write(struct exiv2_file *file, size_t *count, char *reason, size_t size)
{
    return guarded<uint8_t *>(nullptr, reason, size, [&]() -> uint8_t * {
        file->image->writeMetadata();
        auto &io = file->image->io();
        if (io.open() != 0) throw std::runtime_error("cannot be read back");
        *count = io.size();
        uint8_t *copy = copied(io.mmap(), *count);
        io.munmap();
        io.close();
        if (!copy) throw std::bad_alloc();
        return copy;
    });
}

}
