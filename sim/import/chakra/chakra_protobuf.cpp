// Field numbers are those of et_def.proto. Unknown fields are skipped, as protocol buffers demand;
// a field with another wire type than its number has is damage.
#include "import/chakra/chakra_nodes.hpp"

#include <bit>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

// Little-endian on every machine.
std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

// Nodes of real traces have a few thousand bytes, most of them in the lists of their inputs.
constexpr std::uint64_t kLongestMessage = std::uint64_t{64} << 20;
constexpr std::size_t kMostDependencies = 20'000'000;

constexpr const char* kDamaged = "not a message of protocol buffers";

void require(bool is_good) {
  if (!is_good) {
    throw ChakraProblem{kDamaged};
  }
}

// How a field of an attribute holds its value; lists and texts count 0.
enum class Encoding { real64, real32, signed64, unsigned64, zigzag, signed32, text };
struct ValueField {
  std::uint32_t number;
  Encoding encoding;
};
constexpr std::array kValueFields{
    ValueField{3, Encoding::real64},      ValueField{5, Encoding::real32},
    ValueField{7, Encoding::signed64},    ValueField{9, Encoding::signed64},
    ValueField{11, Encoding::unsigned64}, ValueField{13, Encoding::unsigned64},
    ValueField{15, Encoding::zigzag},     ValueField{17, Encoding::zigzag},
    ValueField{19, Encoding::unsigned64}, ValueField{21, Encoding::unsigned64},
    ValueField{23, Encoding::signed32},   ValueField{25, Encoding::signed64},
    ValueField{27, Encoding::unsigned64}, ValueField{29, Encoding::text},
    ValueField{31, Encoding::text}};
constexpr std::array kOldValueFields{ValueField{4, Encoding::real32},
                                     ValueField{5, Encoding::signed64},
                                     ValueField{6, Encoding::text}};

ChakraValue value_in(const WireField& field, Encoding encoding) {
  const auto low = static_cast<std::uint32_t>(field.value);
  switch (encoding) {
  case Encoding::real64:
    return {std::bit_cast<double>(field.value), {}};
  case Encoding::real32:
    return {static_cast<double>(std::bit_cast<float>(low)), {}};
  case Encoding::signed64:
    return {static_cast<double>(static_cast<std::int64_t>(field.value)), {}};
  case Encoding::unsigned64:
    return {static_cast<double>(field.value), {}};
  case Encoding::zigzag:
    return {static_cast<double>(zigzag(field.value)), {}};
  case Encoding::signed32:
    return {static_cast<double>(static_cast<std::int32_t>(low)), {}};
  case Encoding::text:
    return {0, field.bytes};
  }
  return {};
}

class NodeReader {
public:
  explicit NodeReader(ChakraSchema schema) : current_(schema == ChakraSchema::current) {}

  ChakraNode read(std::string_view message) {
    each_field(message, [this](const WireField& field) { read_field(field); });
    complete(node_);
    return std::move(node_);
  }

private:
  [[nodiscard]] ChakraSchema schema() const {
    return current_ ? ChakraSchema::current : ChakraSchema::without_metadata;
  }

  void read_field(const WireField& field) {
    const bool number = field.type == WireType::varint;
    const bool bytes = field.type == WireType::bytes;
    if (field.number == (current_ ? 10U : 11U)) {
      require(bytes);
      read_attribute(field.bytes);
    } else if (field.number == (current_ ? 5U : 4U)) {
      read_dependencies(field);
    } else if (field.number == 1) {
      require(number);
      node_.id = field.value;
    } else if (field.number == 2) {
      require(bytes);
      set_name(node_, field.bytes);
    } else if (field.number == 3) {
      require(number);
      set_type(node_, field.value, schema());
    } else if (field.number == 6 && current_) {
      require(number);
      set_start(node_, static_cast<double>(field.value));
    } else if (field.number == 7 && current_) {
      require(number);
      set_duration(node_, static_cast<double>(field.value));
    } else if (field.number == 7) {
      set_types(node_, field.bytes);
    } else if (field.number == 8 && current_) {
      each_field(field.bytes, [this](const WireField& input) {
        if (input.number == 3) {
          set_types(node_, input.bytes);
        }
      });
    } else if ((field.number == 13 || field.number == 18) && !current_ && number) {
      throw ChakraProblem{
          "the schema of 2022 gives no unit of time: convert the trace again with a "
          "Chakra of 2023 or later"};
    }
  }

  // One number, or several packed into a text.
  void read_dependencies(const WireField& field) {
    if (field.type == WireType::varint) {
      node_.after.push_back(field.value);
      return;
    }
    for (std::string_view rest = field.bytes; !rest.empty();) {
      const auto id = take_varint(rest);
      require(id.has_value());
      node_.after.push_back(*id);
    }
    require(field.type == WireType::bytes);
  }

  void read_attribute(std::string_view message) {
    const std::span<const ValueField> fields =
        current_ ? std::span<const ValueField>(kValueFields) : kOldValueFields;
    std::string_view name;
    ChakraValue value;
    each_field(message, [&](const WireField& field) {
      const auto row = std::ranges::find(fields, field.number, &ValueField::number);
      if (field.number == 1) {
        name = field.bytes;
      } else if (row != fields.end()) {
        value = value_in(field, row->encoding);
      }
    });
    set_attribute(node_, name, value, schema());
  }

  bool current_;
  ChakraNode node_;
};

// Metadata has texts and messages alone; a node has a number, its id or its type.
bool is_metadata(std::string_view message) {
  bool plain = true;
  try {
    each_field(message, [&](const WireField& field) {
      plain = plain && field.number <= 2 && field.type == WireType::bytes;
    });
  } catch (const ChakraProblem&) {
    return false;
  }
  return plain;
}

// Messages in a row of chunks.
class Messages {
public:
  Messages(ByteSource& source, std::string_view first) : source_(source), buffer_(first) {}

  // The next message; false at the end. Valid until the next call.
  bool next(std::string_view& message) {
    constexpr std::size_t kLongestVarint = 10;
    while (true) {
      std::string_view rest = std::string_view(buffer_).substr(begin_);
      const std::size_t here = rest.size();
      const auto size = take_varint(rest);
      if (size && *size > kLongestMessage) {
        fail(fmt::format("longer than {} bytes", kLongestMessage));
      }
      if (size && *size <= rest.size()) {
        message = rest.substr(0, static_cast<std::size_t>(*size));
        last_ = position_ + begin_;
        begin_ += here - rest.size() + message.size();
        ++number_;
        return true;
      }
      if (!size && here >= kLongestVarint) {
        fail(kDamaged);
      }
      position_ += begin_;
      buffer_.erase(0, begin_);
      begin_ = 0;
      const std::string_view chunk = source_.next();
      if (chunk.empty()) {
        if (here > 0) {
          fail(size ? fmt::format("{} bytes long, but the file ends after {}", *size, rest.size())
                    : "the file ends");
        }
        return false;
      }
      buffer_ += chunk;
    }
  }
  // Of the message that next() gave last.
  [[noreturn]] void fail_last(const std::string& what) const {
    throw InputError(source_.name(), "",
                     fmt::format("message {} at byte {}: {}", number_, last_, what));
  }

private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(
        source_.name(), "",
        fmt::format("message {} at byte {}: {}", number_ + 1, position_ + begin_, what));
  }

  ByteSource& source_;
  std::string buffer_;
  std::size_t begin_ = 0;      // of the next message in buffer_
  std::uint64_t position_ = 0; // of buffer_ in the file
  std::uint64_t last_ = 0;     // of the last message in the file
  std::uint64_t number_ = 0;   // messages given
};

} // namespace

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  constexpr std::size_t kLongest = 10;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < kLongest; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == kLongest - 1 && byte > 1) {
      return std::nullopt;
    }
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

WireField take_field(std::string_view& message) {
  const auto number = [&message] {
    const auto value = take_varint(message);
    require(value.has_value());
    return *value;
  };
  const auto take = [&message](std::uint64_t size) {
    require(size <= message.size());
    const std::string_view part = message.substr(0, static_cast<std::size_t>(size));
    message.remove_prefix(part.size());
    return part;
  };
  const std::uint64_t key = number();
  constexpr std::uint64_t kMostFieldNumber = (std::uint64_t{1} << 29) - 1;
  require(key >> 3 > 0 && key >> 3 <= kMostFieldNumber);
  WireField field{.number = static_cast<std::uint32_t>(key >> 3),
                  .type = static_cast<WireType>(key & 7)};
  switch (field.type) {
  case WireType::varint:
    field.value = number();
    return field;
  case WireType::fixed64:
  case WireType::fixed32:
    field.value = little_endian(take(field.type == WireType::fixed64 ? 8 : 4));
    return field;
  case WireType::bytes:
    field.bytes = take(number());
    return field;
  }
  throw ChakraProblem{kDamaged}; // groups, which no current writer makes
}

ChakraFile read_chakra_protobuf(ByteSource& source, std::string_view first) {
  ChakraFile file;
  file.name = source.name();
  Messages messages(source, first);
  std::optional<ChakraSchema> schema;
  std::size_t dependencies = 0;
  for (std::string_view message; messages.next(message);) {
    if (!schema) {
      schema = is_metadata(message) ? ChakraSchema::current : ChakraSchema::without_metadata;
      if (*schema == ChakraSchema::current) {
        continue;
      }
    }
    try {
      file.nodes.push_back(NodeReader(*schema).read(message));
    } catch (const ChakraProblem& problem) {
      messages.fail_last(problem.message);
    }
    dependencies += file.nodes.back().after.size();
    if (file.nodes.size() > kMostChakraNodes || dependencies > kMostDependencies) {
      messages.fail_last(fmt::format("more than {} nodes or {} dependencies", kMostChakraNodes,
                                     kMostDependencies));
    }
  }
  file.source = source_file(source.name(), source.file_bytes(), source.digest());
  return file;
}

bool looks_like_chakra(std::string_view head) {
  std::string_view rest = head;
  std::string_view message;
  const auto next = [&] {
    const auto size = take_varint(rest);
    if (!size || *size > rest.size()) {
      return false;
    }
    message = rest.substr(0, static_cast<std::size_t>(*size));
    rest.remove_prefix(message.size());
    return true;
  };
  if (!next()) {
    return false;
  }
  const bool metadata = is_metadata(message);
  if (metadata && !next()) {
    return false;
  }
  bool named = false;
  bool typed = true;
  try {
    each_field(message, [&](const WireField& field) {
      named = named || (field.number == 2 && field.type == WireType::bytes);
      typed = typed && (field.number != 3 || (field.type == WireType::varint && field.value <= 32));
    });
  } catch (const ChakraProblem&) {
    return false;
  }
  return named && typed;
}

} // namespace stepsim::io
