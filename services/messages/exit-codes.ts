/** The exit codes that every command line has: done, failed at work, and a line that cannot be carried out as typed. */
export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
