# The library for other programs: find_package(osier) gives them osier::osier.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(OSIER_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/osier)
add_library(osier::osier ALIAS osier_core)
set_target_properties(osier_core PROPERTIES OUTPUT_NAME osier EXPORT_NAME osier)
target_include_directories(osier_core INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(osier_core INTERFACE cxx_std_20)
install(TARGETS osier_core EXPORT osierTargets ARCHIVE COMPONENT development)
install(DIRECTORY include/osier DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(EXPORT osierTargets NAMESPACE osier:: DESTINATION ${OSIER_PACKAGE_DIR} COMPONENT development)
configure_package_config_file(cmake/osierConfig.cmake.in ${PROJECT_BINARY_DIR}/osierConfig.cmake
                              INSTALL_DESTINATION ${OSIER_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/osierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/osierConfig.cmake ${PROJECT_BINARY_DIR}/osierConfigVersion.cmake cmake/dependencies.cmake
              cmake/fmt_instances.cpp cmake/own_stdio.c
        DESTINATION ${OSIER_PACKAGE_DIR} COMPONENT development)
