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

constexpr std::string_view kDamaged = "not a message of protocol buffers";

// The value in field `number` of an attribute, by its type in the schema. Lists and texts count 0.
std::optional<ChakraValue> value_of(const WireField& field, ChakraSchema schema) {
  const auto integer = [](std::int64_t value) {
    return ChakraValue{static_cast<double>(value), {}};
  };
  const auto low = static_cast<std::uint32_t>(field.value);
  if (schema == ChakraSchema::without_metadata) {
    switch (field.number) {
    case 4: // float
      return ChakraValue{static_cast<double>(std::bit_cast<float>(low)), {}};
    case 5: // int64
      return integer(static_cast<std::int64_t>(field.value));
    case 6: // bytes
      return ChakraValue{0, field.bytes};
    default:
      return std::nullopt;
    }
  }
  switch (field.number) {
  case 3: // double
    return ChakraValue{std::bit_cast<double>(field.value), {}};
  case 5: // float
    return ChakraValue{static_cast<double>(std::bit_cast<float>(low)), {}};
  case 7:  // int32
  case 9:  // int64
  case 25: // sfixed64
    return integer(static_cast<std::int64_t>(field.value));
  case 11: // uint32
  case 13: // uint64
  case 19: // fixed32
  case 21: // fixed64
  case 27: // bool
    return ChakraValue{static_cast<double>(field.value), {}};
  case 15: // sint32
  case 17: // sint64
    return integer(zigzag(field.value));
  case 23: // sfixed32
    return integer(static_cast<std::int32_t>(low));
  case 29: // string
  case 31: // bytes
    return ChakraValue{0, field.bytes};
  default:
    return std::nullopt;
  }
}

class NodeReader {
public:
  explicit NodeReader(ChakraSchema schema) : schema_(schema) {}

  // What is wrong with the message, empty if nothing is.
  std::string read(std::string_view message) {
    WireReader reader(message);
    while (const auto field = reader.next()) {
      if (std::string problem = read_field(*field); !problem.empty()) {
        return problem;
      }
    }
    complete(node_);
    return reader.damaged() ? std::string(kDamaged) : "";
  }
  ChakraNode& node() { return node_; }

private:
  [[nodiscard]] bool current() const { return schema_ == ChakraSchema::current; }

  std::string read_field(const WireField& field) {
    const bool number = field.type == WireType::varint;
    const bool bytes = field.type == WireType::bytes;
    const std::uint32_t dependencies = current() ? 5 : 4;
    if (field.number == (current() ? 10U : 11U)) {
      return bytes ? read_attribute(field.bytes) : std::string(kDamaged);
    }
    if (field.number == dependencies) {
      return read_dependencies(field);
    }
    switch (field.number) {
    case 1:
      node_.id = field.value;
      return number ? "" : std::string(kDamaged);
    case 2:
      set_name(node_, field.bytes);
      return bytes ? "" : std::string(kDamaged);
    case 3:
      set_type(node_, field.value, schema_);
      return number ? "" : std::string(kDamaged);
    case 6:
      return !current() ? ""
             : number   ? set_start(node_, static_cast<double>(field.value))
                        : std::string(kDamaged);
    case 7:
      if (!current()) {
        set_types(node_, field.bytes);
        return "";
      }
      return number ? set_duration(node_, static_cast<double>(field.value)) : std::string(kDamaged);
    case 8:
      return current() ? read_inputs(field.bytes) : "";
    case 13:
    case 18:
      return current() || !number ? ""
                                  : "the schema of 2022 gives no unit of time: convert the trace "
                                    "again with a Chakra of 2023 or later";
    default:
      return "";
    }
  }

  // One number, or several packed into a text.
  std::string read_dependencies(const WireField& field) {
    if (field.type == WireType::varint) {
      node_.after.push_back(field.value);
      return "";
    }
    std::string_view rest = field.bytes;
    while (!rest.empty()) {
      const auto id = take_varint(rest);
      if (!id) {
        return std::string(kDamaged);
      }
      node_.after.push_back(*id);
    }
    return field.type == WireType::bytes ? "" : std::string(kDamaged);
  }

  std::string read_attribute(std::string_view message) {
    WireReader reader(message);
    std::string_view name;
    ChakraValue value;
    while (const auto field = reader.next()) {
      if (field->number == 1) {
        name = field->bytes;
      } else if (const auto found = value_of(*field, schema_)) {
        value = *found;
      }
    }
    return reader.damaged() ? std::string(kDamaged) : set_attribute(node_, name, value, schema_);
  }

  std::string read_inputs(std::string_view message) {
    WireReader reader(message);
    while (const auto field = reader.next()) {
      if (field->number == 3) {
        set_types(node_, field->bytes);
      }
    }
    return reader.damaged() ? std::string(kDamaged) : "";
  }

  ChakraSchema schema_;
  ChakraNode node_;
};

// Metadata has texts and messages alone; a node has a number, its id or its type.
bool is_metadata(std::string_view message) {
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number > 2 || field->type != WireType::bytes) {
      return false;
    }
  }
  return !reader.damaged();
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
        fail(std::string(kDamaged));
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

std::optional<WireField> WireReader::next() {
  if (rest_.empty() || damaged_) {
    return std::nullopt;
  }
  damaged_ = true; // until the field is complete
  const auto key = take_varint(rest_);
  constexpr std::uint64_t kMostFieldNumber = (std::uint64_t{1} << 29) - 1;
  if (!key || *key >> 3 == 0 || *key >> 3 > kMostFieldNumber) {
    return std::nullopt;
  }
  WireField field;
  field.number = static_cast<std::uint32_t>(*key >> 3);
  field.type = static_cast<WireType>(*key & 7);
  const auto take = [&](std::uint64_t size) -> std::optional<std::string_view> {
    if (size > rest_.size()) {
      return std::nullopt;
    }
    const std::string_view part = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(part.size());
    return part;
  };
  std::optional<std::string_view> part;
  std::optional<std::uint64_t> number;
  switch (field.type) {
  case WireType::varint:
    number = take_varint(rest_);
    break;
  case WireType::fixed64:
  case WireType::fixed32:
    part = take(field.type == WireType::fixed64 ? 8 : 4);
    number = part ? std::optional(little_endian(*part)) : std::nullopt;
    break;
  case WireType::bytes:
    if (const auto size = take_varint(rest_)) {
      part = take(*size);
      field.bytes = part.value_or(std::string_view());
      number = part ? std::optional<std::uint64_t>(0) : std::nullopt;
    }
    break;
  default: // groups, which no current writer makes
    break;
  }
  if (!number) {
    return std::nullopt;
  }
  field.value = *number;
  damaged_ = false;
  return field;
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
    NodeReader reader(*schema);
    if (const std::string problem = reader.read(message); !problem.empty()) {
      messages.fail_last(problem);
    }
    dependencies += reader.node().after.size();
    if (file.nodes.size() == kMostChakraNodes || dependencies > kMostDependencies) {
      messages.fail_last(fmt::format("more than {} nodes or {} dependencies", kMostChakraNodes,
                                     kMostDependencies));
    }
    file.nodes.push_back(std::move(reader.node()));
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
  WireReader reader(message);
  while (const auto field = reader.next()) {
    named = named || (field->number == 2 && field->type == WireType::bytes);
    if (field->number == 3 && (field->type != WireType::varint || field->value > 32)) {
      return false;
    }
  }
  return named && !reader.damaged();
}

} // namespace stepsim::io
