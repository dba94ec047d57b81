#pragma once
// Reads the part of XML that descriptions of machines use: elements with quoted attributes, nested
// or empty, comments, a declaration, the five entities. Everything else is refused by name: DTDs,
// CDATA, processing instructions, text between elements, numeric character references. pugixml
// parses it.
//
//     <pci busid="0000:10:1c.0" link_width="16"><gpu dev="0"/></pci>
//
// An element has the line of its tag. Limits on size and depth protect against malicious files.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepsim::io {

inline constexpr std::size_t kMaxXmlDepth = 64;
inline constexpr std::size_t kMaxXmlElements = 65'536;

struct XmlElement {
  std::string name;
  std::int64_t line{};                                         // line of its tag, from 1
  std::vector<std::pair<std::string, std::string>> attributes; // names unique, entities replaced
  std::vector<XmlElement> children;                            // in document order

  // Null if there is no such attribute.
  [[nodiscard]] const std::string* find(std::string_view attribute) const;
};

// The root element. Throws InputError `topo.xml:14: </pci> closes <gpu>`,
// `... DTD is not supported`, `... nested deeper than 64 levels`.
[[nodiscard]] XmlElement parse_xml(std::string_view text, const std::string& file);

} // namespace stepsim::io
