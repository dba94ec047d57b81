// Entries of type L (GNU) and x (pax) hold the name, and pax also the size, of the entry behind
// them; their bodies are collected in text_. All other bodies but that of the first file are
// skipped.
#include "document/tar.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/collected.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMarkAt = 257;
constexpr std::string_view kMark = "ustar";
constexpr std::size_t kMostNames = 10;
constexpr std::uint64_t kMostText = std::uint64_t{1} << 20; // a name, or a pax header
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

// A field of a header, without the zeros behind it.
std::string_view field(std::span<const char> header, std::size_t at, std::size_t size) {
  const std::string_view text(header.data() + at, size);
  return text.substr(0, text.find('\0'));
}

// Octal digits between blanks.
std::optional<std::uint64_t> octal(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  text = text.substr(begin, text.find(' ', begin) - begin);
  std::uint64_t value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

// Octal, or binary (GNU) where the first bit is set.
std::optional<std::uint64_t> size_of(std::span<const char> header) {
  constexpr std::size_t kAt = 124;
  constexpr std::size_t kSize = 12;
  const auto first = static_cast<unsigned char>(header[kAt]);
  if (first != 0x80) {
    return octal(field(header, kAt, kSize));
  }
  std::uint64_t value = 0;
  for (const char c : header.subspan(kAt + 1, kSize - 1)) {
    if (value > kMostBytes >> 8) {
      return std::nullopt;
    }
    value = value << 8 | static_cast<unsigned char>(c);
  }
  return value;
}

// The sum of all bytes of the header, with blanks in the place of the sum.
bool checksum_fits(std::span<const char> header) {
  constexpr std::size_t kAt = 148;
  constexpr std::size_t kSize = 8;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool own = i >= kAt && i < kAt + kSize;
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return octal(field(header, kAt, kSize)) == sum;
}

// Posix headers have the front of a long name in a field of its own.
std::string name_of(std::span<const char> header) {
  const std::string name(field(header, 0, 100));
  const bool posix = header[kMarkAt + kMark.size()] == '\0';
  const std::string_view prefix = posix ? field(header, 345, 155) : std::string_view();
  return prefix.empty() ? name : std::string(prefix) + "/" + name;
}

// What macOS writes next to every file.
bool is_attribute_file(std::string_view name) {
  return name.starts_with("__MACOSX/") || name.substr(name.find_last_of('/') + 1).starts_with("._");
}

} // namespace

bool looks_like_tar(std::string_view head) {
  return head.size() >= kTarBlock && head.substr(kMarkAt).starts_with(kMark);
}

void TarStream::damaged() const {
  throw InputError(
      file_, "",
      fmt::format("tar archive with a damaged header at byte {}", position_ - kTarBlock));
}

void TarStream::begin_entry(std::string name, std::uint64_t size, char type) {
  kind_ = Kind::skipped;
  if (type == 'L' || type == 'x') {
    kind_ = type == 'L' ? Kind::name : Kind::pax;
    text_.clear();
    if (size > kMostText) {
      damaged();
    }
  } else {
    const bool is_file = type == '0' || type == '\0' || type == '7';
    if (!next_name_.empty()) {
      name = std::move(next_name_);
    }
    if (has_next_size_) {
      size = next_size_;
    }
    next_name_.clear();
    has_next_size_ = false;
    if (is_file && !is_attribute_file(name)) {
      kind_ = ++files_ == 1 ? Kind::content : Kind::skipped;
      if (names_.size() < kMostNames) {
        names_.push_back(std::move(name));
      }
    } else if (!is_file && type >= '1' && type <= '6') {
      size = 0; // links, devices and folders have no body, whatever their size says
    }
  }
  left_ = size;
  padding_ = static_cast<std::size_t>((kTarBlock - size % kTarBlock) % kTarBlock);
  state_ = State::body;
}

void TarStream::read_header() {
  if (std::ranges::all_of(header_, [](char c) { return c == '\0'; })) {
    state_ = State::ended;
    return;
  }
  const auto size = size_of(header_);
  if (!looks_like_tar({header_.data(), header_.size()}) || !checksum_fits(header_) || !size ||
      *size > kMostBytes) {
    damaged();
  }
  constexpr std::size_t kTypeAt = 156;
  begin_entry(name_of(header_), *size, header_[kTypeAt]);
}

// Records "30 path=a/b\n": the number is the length of the record with itself.
void TarStream::read_pax() {
  std::string_view rest = text_;
  while (!rest.empty()) {
    std::size_t length{};
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc() || length > rest.size() || length < digits + 2) {
      damaged();
    }
    const std::string_view record = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    if (record.starts_with("path=")) {
      next_name_ = record.substr(5);
    } else if (record.starts_with("size=")) {
      const char* last = record.data() + record.size();
      const auto result = std::from_chars(record.data() + 5, last, next_size_);
      has_next_size_ = result.ec == std::errc() && result.ptr == last && next_size_ <= kMostBytes;
      if (!has_next_size_) {
        damaged();
      }
    }
  }
}

std::string_view TarStream::take(std::string_view& bytes) {
  while (!bytes.empty() || (state_ != State::header && state_ != State::ended && left_ == 0)) {
    const auto take_up_to = [&](std::uint64_t most) {
      const std::string_view part =
          bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(most, bytes.size())));
      bytes.remove_prefix(part.size());
      position_ += part.size();
      return part;
    };
    switch (state_) {
    case State::header: {
      const std::string_view part = take_up_to(kTarBlock - filled_);
      std::ranges::copy(part, header_.begin() + static_cast<std::ptrdiff_t>(filled_));
      filled_ += part.size();
      if (filled_ == kTarBlock) {
        filled_ = 0;
        read_header();
      }
      break;
    }
    case State::body: {
      const std::string_view part = take_up_to(left_);
      left_ -= part.size();
      if (kind_ == Kind::name || kind_ == Kind::pax) {
        text_ += part;
      }
      if (left_ == 0) {
        if (kind_ == Kind::name) {
          next_name_ = text_.substr(0, text_.find('\0'));
        } else if (kind_ == Kind::pax) {
          read_pax();
        }
        left_ = padding_;
        state_ = State::padding;
      }
      if (kind_ == Kind::content && !part.empty()) {
        return part;
      }
      break;
    }
    case State::padding:
      left_ -= take_up_to(left_).size();
      if (left_ == 0) {
        state_ = State::header;
      }
      break;
    case State::ended:
      take_up_to(std::numeric_limits<std::uint64_t>::max());
      break;
    }
  }
  return {};
}

void TarStream::finish() const {
  if (state_ == State::body || state_ == State::padding || filled_ > 0) {
    throw InputError(file_, "", fmt::format("tar archive ends at byte {}", position_));
  }
  if (files_ == 0) {
    throw InputError(file_, "", "tar archive without files");
  }
  if (files_ > 1) {
    const std::string list =
        base::listed(names_, [](const std::string& name) { return base::shown_value(name, 80); });
    throw InputError(
        file_, "",
        fmt::format(
            "tar archive of {} files: unpack it and give the files that belong together: {}{}",
            files_, list, files_ > names_.size() ? ", ..." : ""));
  }
}

} // namespace stepsim::io
