// The headers that are compiled once for all tests (CMakeLists.txt) need a source to belong to.
