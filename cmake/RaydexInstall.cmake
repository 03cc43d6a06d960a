# SPDX-License-Identifier: Apache-2.0
# Headers, libraries, command line, shell completion, and the files behind find_package(raydex) and
# pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(raydex_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/raydex)

# What is installed is linked as it will be there. Where CMake is left to replace RPATHs, it pads the
# first ones with colons, and an empty entry is the current folder.
foreach(target raydex raydex_papers raydex_cli)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endforeach()

install(TARGETS raydex EXPORT raydexTargets)
# OPTIONAL: after a build of the library alone, it is installed alone. raydexConfig.cmake asks what is there.
install(TARGETS raydex_papers EXPORT raydexPapersTargets OPTIONAL)
install(EXPORT raydexPapersTargets NAMESPACE raydex:: DESTINATION ${raydex_package_dir})
set_target_properties(raydex_papers PROPERTIES EXPORT_NAME papers INSTALL_RPATH $ORIGIN)
install(DIRECTORY include/raydex DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/raydex/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/raydex)

install(EXPORT raydexTargets NAMESPACE raydex:: DESTINATION ${raydex_package_dir})
configure_package_config_file(cmake/raydexConfig.cmake.in raydexConfig.cmake
                              INSTALL_DESTINATION ${raydex_package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(raydexConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/raydexConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/raydexConfigVersion.cmake
        DESTINATION ${raydex_package_dir})

# As raydexConfig.cmake.in says, what a static raydex needs is left to the final link: pkg-config --static.
file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
if(NOT BUILD_SHARED_LIBS)
  set(raydex_pkgconfig_requires "fmt, libhwy, tbb")
  set(raydex_pkgconfig_libs -lembree${embree_VERSION_MAJOR})
  if(RAYDEX_WITH_CUDA)
    string(APPEND raydex_pkgconfig_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread")
  endif()
endif()
configure_file(cmake/raydex.pc.in raydex.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/raydex.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(BUILD_SHARED_LIBS)  # else raydex.pc says it all
  configure_file(cmake/raydex-papers.pc.in raydex-papers.pc @ONLY)
  install(CODE "if(EXISTS \"$<TARGET_FILE:raydex_papers>\")
    file(INSTALL \"${PROJECT_BINARY_DIR}/raydex-papers.pc\"
         DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig\")
  endif()")
endif()

if(TARGET raydex_cli)
  file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set(rpath $ORIGIN/${bin_to_lib} $ORIGIN/../lib)  # installed, and in the build tree
  list(REMOVE_DUPLICATES rpath)
  set_target_properties(raydex_cli PROPERTIES INSTALL_RPATH "${rpath}")
  install(TARGETS raydex_cli OPTIONAL)
  # The program writes its own completion, so that it never lags behind the options.
  set(completion_dir ${PROJECT_BINARY_DIR}/completion)
  set(completions ${completion_dir}/raydex ${completion_dir}/_raydex ${completion_dir}/raydex.fish)
  add_custom_command(OUTPUT ${completions}
    COMMAND raydex_cli completion bash > ${completion_dir}/raydex
    COMMAND raydex_cli completion zsh > ${completion_dir}/_raydex
    COMMAND raydex_cli completion fish > ${completion_dir}/raydex.fish
    DEPENDS raydex_cli COMMENT "Writing the completion of shells" VERBATIM)
  add_custom_target(raydex_completion ALL DEPENDS ${completions})
  file(MAKE_DIRECTORY ${completion_dir})
  install(FILES ${completion_dir}/raydex OPTIONAL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion_dir}/_raydex OPTIONAL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completion_dir}/raydex.fish OPTIONAL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
