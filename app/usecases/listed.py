"""What lists and descriptions show, for the wires, which do not know the store."""

from app.store.descriptions import DescribedGroup
from app.store.pages import ListedCluster, ListedNode

__all__ = ["DescribedGroup", "ListedCluster", "ListedNode"]
