# What `cmake --install` and the packages hold, and where. Programs find their data from their own
# place (bin/../share/stepsim), so that an installed tree may be moved.
include(GNUInstallDirs)
set(data ${CMAKE_INSTALL_DATADIR}/stepsim)
set(pages ${CMAKE_INSTALL_DATADIR}/doc/stepsim)

install(TARGETS stepsim COMPONENT stepsim)
install(TARGETS stepsim-calibrate COMPONENT stepsim OPTIONAL) # ./quickstart builds only stepsim
foreach(folder models topologies traces schemas)
  install(DIRECTORY ${folder} DESTINATION ${data} COMPONENT stepsim
    FILES_MATCHING PATTERN "*.json" PATTERN "README.md")
endforeach()
install(DIRECTORY examples DESTINATION ${data} USE_SOURCE_PERMISSIONS COMPONENT stepsim)
install(DIRECTORY reproduce DESTINATION ${data} COMPONENT stepsim
  PATTERN "*.py" EXCLUDE PATTERN "*.sh" EXCLUDE PATTERN "__pycache__" EXCLUDE)
# Made only where emscripten is installed.
get_property(page GLOBAL PROPERTY STEPSIM_WHATIF)
if(page)
  install(FILES ${page} DESTINATION ${data} COMPONENT stepsim OPTIONAL)
endif()

install(FILES README.md CHANGELOG.md CITATION.cff LICENSE DESTINATION ${pages} COMPONENT stepsim)
install(DIRECTORY docs DESTINATION ${pages} COMPONENT stepsim
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg" PATTERN "scoreboard.csv"
  PATTERN "testbed" EXCLUDE)
# A changelog in the form of Debian, of the date SOURCE_DATE_EPOCH where that is set.
set(CPACK_PACKAGE_CONTACT "the stepsim authors <stepsim@packages.invalid>")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/changelog "stepsim (${PROJECT_VERSION}) unstable; urgency=medium

  * CHANGELOG.md of the package stepsim tells what changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
execute_process(COMMAND gzip -9nf ${CMAKE_CURRENT_BINARY_DIR}/changelog COMMAND_ERROR_IS_FATAL ANY)
install(FILES cmake/copyright ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz DESTINATION ${pages}
  COMPONENT stepsim)

# Man pages and completion are written by the programs that were just installed.
set(STEPSIM_SHARE ${CMAKE_INSTALL_DATADIR})
set(STEPSIM_BIN ${CMAKE_INSTALL_BINDIR})
set(STEPSIM_PAGES ${pages})
set(STEPSIM_DATA ${data})
configure_file(cmake/installed_pages.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/installed_pages.cmake @ONLY)
install(SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/installed_pages.cmake COMPONENT stepsim)

install(FILES python/stepsim.py DESTINATION lib/python3/dist-packages COMPONENT python3-stepsim)
install(FILES cmake/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/python3-stepsim
  COMPONENT python3-stepsim)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/python3-stepsim COMPONENT python3-stepsim)

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_CURRENT_BINARY_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/uninstall.cmake
  VERBATIM)

include(cmake/Packages.cmake)
