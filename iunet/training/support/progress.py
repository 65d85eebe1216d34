"""What a training says while it runs: a line per epoch, or a bar where a person watches."""

from __future__ import annotations

import logging
import time

log = logging.getLogger("iunet.training")
show_progress_bar = False  # set by the classifier, where a person watches


class Progress:
    """Of one training: `step` after every batch, `epoch` after every pass over the rows."""

    def __init__(self, run: str, epochs: int, steps: int, n_rows: int, start: int, quiet: bool):
        self.run, self.epochs, self.n_rows, self.quiet = run, epochs, n_rows, quiet
        self.bar = None
        if show_progress_bar:
            from tqdm import tqdm

            self.bar = tqdm(total=epochs * steps, initial=start * steps, unit="step", desc=run)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.close()

    def step(self) -> None:
        if self.bar is not None:
            self.bar.update()

    def epoch(self, entry: dict[str, float], total_s: float, epoch_s: float) -> None:
        """`entry` is the epoch's line of the history; the seconds are of all epochs and of this."""
        if self.quiet:
            return
        epoch = int(entry["epoch"])
        left = total_s / epoch * (self.epochs - epoch)
        parts = ", ".join(f"{k} {v:.4f}" for k, v in entry.items() if k in ("sup", "nce"))
        valid = ""
        if "valid_accuracy" in entry:
            valid = f"valid {entry['valid_accuracy']:.2f} %"
            if self.bar is not None:
                self.bar.set_postfix_str(valid)
        log.info(
            "epoch %*d/%d  loss %.4f%s%s  %s samples/s  %s left",
            len(str(self.epochs)),
            epoch,
            self.epochs,
            entry["loss"],
            f" ({parts})" if parts else "",
            f"  {valid}" if valid else "",
            f"{self.n_rows / epoch_s:,.0f}",
            time.strftime("%H:%M:%S", time.gmtime(left)),
        )
