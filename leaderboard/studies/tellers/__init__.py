"""What each study found, in words: a module with a record of `Teller` tells of one."""
