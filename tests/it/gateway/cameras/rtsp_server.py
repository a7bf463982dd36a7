"""RTSP server with a JPEG and an H.264 mount; prints its port. GStreamer's, as Debian has it."""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service("0")
source = "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=10/1,format=I420"
mounts = {
    "/jpeg": f"( {source} ! jpegenc ! rtpjpegpay name=pay0 pt=26 )",
    "/h264": f"( {source} ! x264enc tune=zerolatency key-int-max=10 ! rtph264pay name=pay0 pt=96 )",
}
for path, launch in mounts.items():
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(launch)
    factory.set_shared(True)
    if len(sys.argv) > 1:
        permissions = GstRtspServer.RTSPPermissions()
        permissions.add_permission_for_role("user", "media.factory.access", True)
        permissions.add_permission_for_role("user", "media.factory.construct", True)
        factory.set_permissions(permissions)
    server.get_mount_points().add_factory(path, factory)
if len(sys.argv) > 1:
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "user")
    auth = GstRtspServer.RTSPAuth()
    auth.add_digest("camera", sys.argv[1], token)
    auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
    server.set_auth(auth)
server.attach(None)
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
