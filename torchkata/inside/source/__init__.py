"""What can be known about source code without running it. Workers import these modules, which import no others."""
