"""The page's script: computes here, then asks the worker for the same."""

from mean import mean
from pyscript import document, workers


async def show(place, work) -> None:
    try:
        text = await work()
    except Exception as error:  # shown to the person; the console has the traceback
        text = str(error)
    document.getElementById(place).textContent = text


async def in_worker() -> str:
    return await (await workers["gpu"]).mean()


await show("page", mean)
await show("worker", in_worker)
