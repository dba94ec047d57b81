#pragma once
// Elements of XML with their attributes, as descriptions of machines use them; pugixml parses it.
//
//     <pci busid="0000:10:1c.0" link_width="16"><gpu dev="0"/></pci>
//
// An element has the line of its tag. Comments, declarations, document types and text between
// elements are left out. Limits on size and depth protect against malicious files.
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
  std::vector<std::pair<std::string, std::string>> attributes; // entities replaced
  std::vector<XmlElement> children;                            // in document order

  // Null if there is no such attribute.
  [[nodiscard]] const std::string* find(std::string_view attribute) const;
};

// The root element. Throws InputError `topo.xml:14: this is not XML, says its parser: Start-end
// tags mismatch`, `... nested deeper than 64 levels`.
[[nodiscard]] XmlElement parse_xml(std::string_view text, const std::string& file);

} // namespace stepsim::io
