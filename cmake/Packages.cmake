# `cpack` in a build folder makes the Debian packages stepsim and python3-stepsim from the install
# rules. release/package.sh configures and builds for them; SOURCE_DATE_EPOCH makes two runs equal.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stepsim)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL stepsim python3-stepsim)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_needs.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_STEPSIM_PACKAGE_NAME stepsim)
set(CPACK_DEBIAN_STEPSIM_DESCRIPTION
"stepsim predicts how long a training step takes on a cluster of GPUs:
it replays measured layer times of a model against a model of the network,
for the collectives and schedules that frameworks and papers use, and says
where the time goes.")
set(CPACK_DEBIAN_PYTHON3-STEPSIM_PACKAGE_NAME python3-stepsim)
set(CPACK_DEBIAN_PYTHON3-STEPSIM_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-STEPSIM_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-STEPSIM_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON3-STEPSIM_PACKAGE_DEPENDS "python3, stepsim (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON3-STEPSIM_PACKAGE_SUGGESTS "python3-pandas, python3-distributed")
set(CPACK_DEBIAN_PYTHON3-STEPSIM_DESCRIPTION
"Runs scenarios of stepsim from Python: single runs, many in one process,
comparisons and sweeps as data frames.")
include(CPack)
