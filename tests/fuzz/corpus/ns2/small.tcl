$node_(0) set X_ 10.5
$node_(0) set Y_ 3
$ns_ at 2.0 "$node_(0) setdest 50.0 20.0 1.5"
$god_ set-dist 0 1 2
