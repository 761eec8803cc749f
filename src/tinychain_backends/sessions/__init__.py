"""What every consumer that trains needs beside a runtime: arrays bound, state held and saved."""
